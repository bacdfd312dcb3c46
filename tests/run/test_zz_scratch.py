import importlib.util, sys
spec = importlib.util.spec_from_file_location("tp", "/work/main/tests/run/test_planning.py")
tp = importlib.util.module_from_spec(spec); sys.modules["tp"]=tp; spec.loader.exec_module(tp)
base = tp.base; copy = tp.copy
def test_optimise_mutated(copy, runtime, monkeypatch):
    import headwater.run.planning as pl
    edits, settings, expected = tp.EDITS["a table in other files, and a new view that is not stored"]
    with runtime.checkout() as session:
        for e in edits: e(copy, session.spark)
    was = pl._made_by
    def old(*a):
        f = was(*a)
        return f and (f[1], f[1])
    monkeypatch.setattr(pl, "_made_by", old)
    print("OLD", tp.built_of(tp.opened(copy).plan()))
    monkeypatch.setattr(pl, "_made_by", was)
    print("NEW", tp.built_of(tp.opened(copy).plan()))
