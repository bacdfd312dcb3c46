"""Small functions that go every way that Python has, and runs that take the ways.

Each text defines `f`; each of its runs is an expression of its own, in which an exception may be raised.
"""

from __future__ import annotations

import textwrap

# What all texts may use.
TOOLS = '''
class Box:
    """A context that says whether it swallows, and fails where it is told to."""
    def __init__(self, swallows=False, fails=""):
        self.swallows, self.fails = swallows, fails
    def __enter__(self):
        if self.fails == "enter": raise KeyError(self.fails)
        return (1, 2)
    def __exit__(self, *exc):
        if self.fails == "exit": raise KeyError(self.fails)
        return self.swallows
    async def __aenter__(self): return self.__enter__()
    async def __aexit__(self, *exc): return self.__exit__(*exc)

class Later:
    """An awaitable that suspends once, and the asynchronous iterator of a number of items."""
    def __init__(self, n=0): self.n = n
    def __await__(self): return (yield self)
    def __aiter__(self): return self
    async def __anext__(self):
        if not self.n: raise StopAsyncIteration
        self.n -= 1
        return self.n

def fail(*args): raise ValueError(args)
def ok(*args): return args

def drive(gen, *steps):
    """Send, throw or close, as the steps say."""
    gen.send(None)
    for step in steps:
        if step == "close": gen.close()
        elif isinstance(step, BaseException): gen.throw(step)
        else: gen.send(step)

async def consume(gen):
    async for each in gen: ok(each)

async def stop(gen):
    await gen.__anext__()
    await gen.athrow(KeyError())
'''

_TEXTS = """
def f(a):
    if a:
        b = 1
    elif a is None:
        b = 2
    else:
        b = 3
    return b
>>> f(1); f(0); f(None)
def f(a, b, c):
    if (a
            and b
            or not c):
        return 1
    return (a or
            b or
            c)
>>> f(0, 0, 0); f(1, 1, 1); f(1, 0, 1); f(1, 0, 0)
def f(a, b):
    x = (1
         if a else
         2
         if b else
         fail())
    return x
>>> f(1, 0); f(0, 1); f(0, 0)
def f(a, b, c):
    if (a <
            b <
            c):
        return 1
    return (a <
            b
            < c)
>>> f(1, 2, 3); f(2, 1, 3); f(1, 3, 2)
def f(n):
    while n:
        n -= 1
        if n == 5:
            continue
        if n == 3:
            break
    else:
        n = 10
    return n
>>> f(0); f(2); f(7)
def f(n):
    while True:
        n -= 1
        if n < 0:
            return n
>>> f(3)
def f(n):
    while 1:
        n -= 1
        if n < 0:
            break
    while 0:
        n = 7
    if False:
        n = 8
    if __debug__:
        n = 9
    return n
>>> f(3)
def f(items):
    for i in items:
        if i == 1:
            continue
        if i == 2:
            break
    else:
        i = 5
    return i
>>> f([0]); f([1, 2]); f([1]); f([]); f(3)
def f(items):
    for i in items: ok(i)
    for i, j in items: pass
>>> f([]); f([(1, 2)]); f([(1, 2), 3])
def f(a):
    for i in a:
        for j in i:
            if j:
                break
            ok(j)
        else:
            continue
        break
    return a
>>> f([[0, 0], [0, 1], [1]]); f([[0]]); f([])
def f(a):
    try:
        ok(1)
        a()
        ok(2)
    except ValueError:
        b = 1
    except (KeyError, TypeError) as e:
        b = e
    else:
        b = 3
    return b
>>> f(ok); f(fail); f(3); f(lambda: 1 / 0)
def f(a):
    try:
        return a()
    except:
        raise
    finally:
        ok(3)
>>> f(ok); f(fail)
def f(a):
    try:
        a()
    finally:
        ok(1)
    return 2
>>> f(ok); f(fail)
def f(a):
    for i in range(4):
        try:
            if a == 0:
                continue
            if a == 1:
                break
            if a == 2:
                return i
            if a == 3:
                fail()
            ok(i)
        finally:
            ok(a)
        ok(5)
    else:
        ok(6)
    return 7
>>> f(0); f(1); f(2); f(3); f(4)
def f(a):
    while a:
        try:
            fail()
        finally:
            a -= 1
            break
    return a
>>> f(2); f(0)
def f(a):
    try:
        try:
            a()
        finally:
            return 3
    finally:
        ok(4)
>>> f(ok); f(fail)
def f(a):
    try:
        try:
            a()
        except KeyError:
            ok(1)
        finally:
            ok(2)
    except ValueError:
        ok(3)
    finally:
        if a:
            ok(4)
>>> f(ok); f(fail); f(0)
def f(a):
    try:
        a()
    except undefined:
        ok()
    except ValueError:
        ok()
>>> f(ok); f(fail)
def f(a):
    try:
        pass
    except ValueError:
        ok()
    else:
        a()
    finally:
        pass
>>> f(ok); f(fail)
def f(a):
    try:
        a()
    except Exception as e:
        fail(e)
    except BaseException:
        return 1
>>> f(ok); f(fail); f(lambda: (_ for _ in ()).throw(SystemExit))
def f(a):
    try:
        a()
    except* ValueError as e:
        ok(1)
    except* KeyError:
        fail(2)
    except* TypeError:
        ok(3)
    else:
        ok(4)
    finally:
        ok(5)
    return 6
def raiser(*kinds):
    def call():
        raise ExceptionGroup("", [kind() for kind in kinds])
    return call
>>> f(ok); f(raiser(ValueError)); f(raiser(KeyError)); f(raiser(ValueError, TypeError)); f(raiser(OSError))
>>> f(raiser(ValueError, OSError)); f(raiser(TypeError)); f(raiser(TypeError, OSError)); f(fail)
def f(box, a):
    with box:
        a()
        ok(1)
    return 2
>>> f(Box(), ok); f(Box(), fail); f(Box(True), fail); f(Box(fails="exit"), ok); f(Box(fails="enter"), ok)
def f(box, other, a):
    with box as x, other as (y, z):
        a()
    with box as (x, y, z):
        ok(1)
>>> f(Box(), Box(), ok); f(Box(True), Box(True), ok); f(Box(), Box(), fail); f(Box(True), Box(), fail)
>>> f(Box(), Box(True), fail); f(Box(), Box(fails="enter"), ok); f(Box(True), Box(fails="enter"), ok)
def f(box, a):
    for i in range(3):
        with box:
            if a == 0:
                continue
            if a == 1:
                break
            if a == 2:
                return i
            fail()
        ok(i)
    return 4
>>> f(Box(), 0); f(Box(), 1); f(Box(), 2); f(Box(True), 3); f(Box(), 3); f(Box(fails="exit"), 2)
def f(box, other):
    with (
        box as x,
        other as y,
    ):
        return x
>>> f(Box(), Box()); f(Box(), Box(fails="exit")); f(Box(True), Box(fails="exit"))
def f(a):
    match a:
        case 1 | 2:
            b = 1
        case [x, *rest] if x:
            b = rest
        case {"k": v, **others}:
            b = v, others
        case str() as s:
            b = s
        case complex(real=r):
            b = r
        case None:
            b = 0
    return b
>>> f(1); f([1, 2]); f([0]); f({"k": 1}); f("s"); f(3j); f(None); f(4.5); f({})
def f(a):
    match a:
        case ok.missing:
            return 1
        case _:
            return 2
>>> f(1)
def f(a):
    match a, 1:
        case (0, x) | (x, 0):
            return x
        case y if y[0] > 5:
            return y
        case z:
            pass
    return z
>>> f(0); f(9); f(1)
def f(a):
    assert a
    assert a > 1, ok(a)
    assert (a > 2
            and a > 3), \\
        fail(a)
    return a
>>> f(0); f(1); f(2); f(3); f(4)
def f(a):
    if a:
        raise ValueError(a)
    raise KeyError from fail()
>>> f(1); f(0)
def f(a):
    raise
>>> f(1)
def f(a):
    b = [i for i in a if i if i > 1]
    c = {i: j for i in a for j in range(i)}
    d = {
        i
        for i in a
        if i
    }
    return list(i for i in a), b, c, d
>>> f([1, 2, 0]); f([]); f(["a"]); f(1)
def f(a):
    if (n := len(a)) > 1 and (m := n - 1):
        return m
    return [y := 1, y ** 2, n]
>>> f("abc"); f("a"); f(1)
def f(n):
    for i in range(n):
        x = yield i
        if x:
            yield x
    return n
>>> list(f(2)); drive(f(3), 0, 1, 0, 0); drive(f(3), "close"); drive(f(3), KeyError()); drive(f(0))
def f(n):
    try:
        x = yield n
        yield x
    except KeyError:
        yield 5
    except GeneratorExit:
        ok("closed")
        raise
    finally:
        ok("done")
>>> drive(f(1), 1, 1); drive(f(1), KeyError(), 1); drive(f(1), "close"); drive(f(1), 1, ValueError())
def f(n):
    while True:
        try:
            yield n
        except KeyError:
            continue
        except ValueError:
            break
        n += 1
>>> drive(f(1), 1, KeyError(), 1, ValueError()); drive(f(1), "close")
def g(n):
    yield n
    return 3
def f(n):
    a = yield from g(n)
    b = yield from \\
        g(a)
    return b
>>> list(f(1)); drive(f(1), 1, KeyError()); drive(f(1), "close"); list(f(2))
def f(n):
    with Box(True):
        yield n
        fail()
    yield 2
>>> list(f(1)); drive(f(1), KeyError(), 1); drive(f(1), "close")
async def f(n):
    a = await Later()
    if a:
        return await Later()
    await fail()
>>> drive(f(1), 1, 2); drive(f(1), 0); drive(f(1), KeyError()); drive(f(1), "close")
async def f(n, box):
    async with box as b:
        await Later()
        if n:
            return b
    async for i in Later(3):
        if i == n:
            break
    else:
        n = 4
    return n
>>> drive(f(0, Box()), 1); drive(f(1, Box()), 1)
>>> drive(f(1, Box(True)), KeyError()); drive(f(1, Box()), KeyError())
async def f(n):
    yield n
    x = [i async for i in Later(n)]
    y = [await Later() for i in x]
    yield y
>>> drive(consume(f(0))); drive(consume(f(2)), 1, 2, 3); drive(consume(f(2)), KeyError()); drive(stop(f(1)))
def f(a):
    def g(b=a, *c, d: int = 3) -> int:
        return b
    @ok
    def h(): pass
    class C(Box, metaclass=type):
        x = a
        if x:
            y = 1
        def m(self): return self
    return g(), C().m()
>>> f(1); f(0)
def f(a):
    class C(a.b):
        pass
    return C
>>> f(1)
def f(a):
    class C:
        for i in a:
            x = i
        else:
            x = 2
        try:
            fail()
        except KeyError:
            pass
>>> f([1])
def f(a):
    g = lambda x, y=a: x and y
    return g(1), g(0), (lambda: fail())()
>>> f(1)
def f(a):
    global made
    made = a
    del made
    made
>>> f(1)
def f(a):
    del a
    a
>>> f(1)
def f(a):
    try:
        fail()
    except ValueError as a:
        ok(a)
    return a
>>> f(1)
def f(a):
    a += 1
    a.b: int = 3
    c: int = 4
    d: int
    return d
>>> f(1); f(ok); f("")
def f(a):
    import os, sys as system
    from os.path import join, missing
    return join
>>> f(1)
def f(a):
    x = ok(1,
           ok(2,
              a()),
           3)
    return x
>>> f(ok); f(fail)
def f(a):
    return (
        a()
    )
>>> f(ok); f(fail)
def f(a):
    x = f"{a!r:>{a}} {a and 1}" if a == 1 else f"{a:{a}}"
    return x
>>> f(1); f("b")
def f(a, *b, **c):
    ok(*b, a, *a)
    a[0:1], *rest = b
    return {**c, "a": a, a: b}
>>> f([1], 2, 3); f(1, 2)
def f(a):
    return 1
    ok(2)
    while a:
        ok(3)
>>> f(1)
def f(a):
    while a:
        while True:
            a -= 1
            if a < 2:
                break
        if a == 1:
            continue
        return a
>>> f(0); f(1); f(3)
def f(a):
    for i in a:
        try:
            with Box(i == 1):
                if i == 3:
                    return i
                fail() if i else ok()
            ok(1)
        except ValueError:
            try:
                if i == 2:
                    continue
            finally:
                ok(2)
            break
        else:
            ok(3)
        finally:
            ok(4)
    else:
        ok(5)
    ok(6)
>>> f([0, 1, 2]); f([0, 3]); f([4]); f([])
def f(a):
    x = not (a
             and fail)
    if not a: x = 1
    return not x if a else -x
>>> f(1); f(0)
def f(a):
    return a if (a if a else not a) else (a and a.b) or a
>>> f(1); f(0)
"""


def corpus() -> list[tuple[str, list[str]]]:
    """The texts, each with the tools in front, and their runs."""
    found: list[tuple[str, list[str]]] = []
    text: list[str] = []
    for line in textwrap.dedent(_TEXTS).strip("\n").splitlines():
        if line.startswith(">>> "):
            if text:
                found.append((TOOLS + "\n".join(text) + "\n", []))
                text = []
            found[-1][1].extend(line[4:].split("; "))
        else:
            text.append(line)
    return found
