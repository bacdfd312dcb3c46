"""What functions outside of the repository do to the world, by how their dotted names begin.

The longest name that fits counts; one without effects takes away what a shorter one says. Of builtin types
there are only the methods of files. Not here: who calls them.
"""

from __future__ import annotations

EFFECTS: tuple[str, ...] = ("io", "fs", "net", "process", "db", "env", "random", "time")

_OS_FILES = (
    *("access", "chdir", "chflags", "chmod", "chown", "chroot", "close", "copy_file_range", "dup", "dup2"),
    *("fchdir", "fchmod", "fchown", "fdopen", "fstat", "fsync", "ftruncate", "fwalk", "getcwd", "link"),
    *("listdir", "lseek", "lstat", "makedirs", "mkdir", "mkfifo", "mknod", "open", "pread", "pwrite", "read"),
    *("readlink", "remove", "removedirs", "rename", "renames", "replace", "rmdir", "scandir", "sendfile"),
    *("stat", "statvfs", "symlink", "sync", "truncate", "unlink", "utime", "walk", "write"),
)
_OS_PATH_FILES = (
    *("exists", "lexists", "getatime", "getctime", "getmtime", "getsize", "isdir", "isfile", "islink"),
    *("ismount", "realpath", "samefile", "sameopenfile", "expanduser"),
)
_OS_PROCESSES = (
    *("abort", "execl", "execle", "execlp", "execlpe", "execv", "execve", "execvp", "execvpe", "fork"),
    *("forkpty", "kill", "killpg", "nice", "popen", "posix_spawn", "posix_spawnp", "putenv", "setsid"),
    *("spawnl", "spawnle", "spawnlp", "spawnlpe", "spawnv", "spawnve", "spawnvp", "spawnvpe", "startfile"),
    *("system", "wait", "wait3", "wait4", "waitid", "waitpid", "_exit"),
)
_PATH_FILES = (
    *("absolute", "chmod", "copy", "cwd", "exists", "expanduser", "glob", "group", "hardlink_to", "home"),
    *(
        "is_block_device",
        "is_dir",
        "is_file",
        "is_mount",
        "is_symlink",
        "iterdir",
        "lchmod",
        "lstat",
        "mkdir",
    ),
    *(
        "move",
        "open",
        "owner",
        "read_bytes",
        "read_text",
        "readlink",
        "rename",
        "replace",
        "resolve",
        "rglob",
    ),
    *("rmdir", "samefile", "stat", "symlink_to", "touch", "unlink", "walk", "write_bytes", "write_text"),
)
_MODULES: dict[str, str] = {
    "io": "sys.stdout sys.stderr sys.stdin logging getpass readline curses click.echo rich.print "
    "warnings.warn pprint.pprint traceback.print_exc traceback.print_exception",
    "fs": "shutil tempfile glob fileinput filecmp linecache zipfile.ZipFile tarfile.open gzip.open bz2.open "
    "lzma.open io.open io.FileIO codecs.open mmap dbm shelve importlib.resources aiofiles",
    "net": "socket ssl http.client http.server urllib.request urllib3 requests httpx aiohttp ftplib smtplib "
    "imaplib poplib telnetlib nntplib xmlrpc socketserver asyncio.open_connection asyncio.start_server "
    "asyncio.open_unix_connection paramiko boto3 botocore grpc websockets tornado.httpclient selenium "
    "django.core.mail pika kafka",
    "process": "subprocess multiprocessing signal pty os.getpid asyncio.create_subprocess_exec sys.exit "
    "asyncio.create_subprocess_shell concurrent.futures.ProcessPoolExecutor psutil atexit",
    "db": "sqlite3 psycopg psycopg2 pymysql MySQLdb mysql cx_Oracle oracledb asyncpg aiosqlite pymongo redis "
    "sqlalchemy.create_engine sqlalchemy.orm.Session sqlalchemy.engine duckdb peewee django.db.connection "
    "django.db.connections django.db.transaction django.db.models.Model.objects django.db.models.Model.save "
    "django.db.models.Model.delete django.db.models.Model.refresh_from_db motor pymemcache elasticsearch",
    "env": "os.environ os.environb os.getenv os.getenvb os.putenv os.unsetenv platform locale.getlocale "
    "locale.setlocale sys.argv os.uname os.cpu_count os.getlogin decouple environ dotenv",
    "random": "random secrets uuid.uuid1 uuid.uuid4 os.urandom os.getrandom numpy.random random.SystemRandom",
    "time": "time datetime.datetime.now datetime.datetime.utcnow datetime.datetime.today datetime.date.today "
    "django.utils.timezone.now sched asyncio.sleep timeit pendulum.now arrow.now arrow.utcnow",
}
# Parts of the above that only reckon.
_PURE = (
    "random.Random time.struct_time time.strptime time.strftime time.mktime time.gmtime "
    "socket.inet_aton socket.inet_ntoa socket.inet_pton socket.inet_ntop socket.htons socket.ntohs "
    "logging.getLogger logging.Formatter logging.Filter ssl.CertificateError requests.exceptions "
    "httpx.HTTPError sqlite3.Error sqlite3.OperationalError sqlite3.IntegrityError subprocess.list2cmdline "
    "glob.escape socket.error socket.timeout socket.gaierror subprocess.CalledProcessError "
    "subprocess.TimeoutExpired signal.Signals"
)


def _table() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for effect, names in _MODULES.items():
        for name in names.split():
            table[name] = (*table.get(name, ()), effect)
    table |= {f"os.{name}": ("fs",) for name in _OS_FILES}
    table |= {f"os.path.{name}": ("fs",) for name in _OS_PATH_FILES}
    table |= {f"os.{name}": ("process",) for name in _OS_PROCESSES}
    table |= {f"pathlib.{kind}.{name}": ("fs",) for kind in ("Path", "PosixPath") for name in _PATH_FILES}
    return table | dict.fromkeys(_PURE.split(), ())


OUTSIDE: dict[str, tuple[str, ...]] = _table()
BUILTINS: dict[str, tuple[str, ...]] = {
    "open": ("fs",),
    "print": ("io",),
    "input": ("io",),
    "breakpoint": ("io",),
    "exit": ("process",),
    "quit": ("process",),
}
FILE_METHODS: tuple[str, ...] = ("fs",)


def effects_of(dotted: str) -> tuple[str, ...]:
    """The effects of calling something outside, by its dotted name.

    >>> effects_of("subprocess.run"), effects_of("os.path.join"), effects_of("pathlib.Path.read_text")
    (('process',), (), ('fs',))
    """
    name = dotted
    while name:
        found = OUTSIDE.get(name)
        if found is not None:
            return found
        name = name.rpartition(".")[0]
    return ()
