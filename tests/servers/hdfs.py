"""A real HDFS for tests: a name node and two data nodes in one process, as scripts/get-jars brings them."""

import json
import os
import pwd
import urllib.request

import java_server

NAME = "hdfs"
USER = "tester"
LOG4J = """log4j.rootLogger=WARN,E
log4j.appender.E=org.apache.log4j.ConsoleAppender
log4j.appender.E.layout=org.apache.log4j.PatternLayout
log4j.appender.E.layout.ConversionPattern=%p %c{1}: %m%n
"""


def missing():
    return java_server.missing(NAME, "hadoop-hdfs-3*-tests.jar")


class Server(java_server.JavaServer):
    """The folder /tests is for everybody."""

    name = NAME

    def __init__(self):
        super().__init__()
        self.port, self.rpc_port = java_server.free_port(), java_server.free_port()
        self.made = False
        # What its web server wants to find on the way of its classes.
        for name in ("hdfs", "datanode"):
            (self.folder / "conf/webapps" / name).mkdir(parents=True)
        (self.folder / "conf/log4j.properties").write_text(LOG4J)

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def at(self):
        return f"webhdfs://127.0.0.1:{self.port}/tests"

    def environment(self):
        """What a client is told; proxies are not for a server of this machine."""
        return {"PIRACEMA_TEST_HDFS": self.at, "HADOOP_USER_NAME": USER, "NO_PROXY": "127.0.0.1",
                "no_proxy": "127.0.0.1"}

    def words(self):
        return ["--add-opens", "java.base/java.lang=ALL-UNNAMED", "-cp",
                f"{self.folder}/conf:{java_server.jars(NAME)}/*",
                "org.apache.hadoop.test.MiniDFSClusterManager", "-datanodes", "2", "-httpport",
                str(self.port), "-nnport", str(self.rpc_port),
                *([] if self.made else ["-format"]), "-D", f"hdfs.minidfs.basedir={self.folder}/data"]

    def ask(self, method, path, operation, user):
        request = urllib.request.Request(
            f"{self.endpoint}/webhdfs/v1{path}?op={operation}&user.name={user}", method=method)
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
            return json.loads(answer.read() or "{}")

    def answers(self):
        """It writes: a data node has come, and safe mode is over."""
        try:
            self.ask("PUT", "/tests", "MKDIRS&permission=777", self.superuser())
            self.ask("PUT", "/tests", "SETPERMISSION&permission=777", self.superuser())
            self.made = True
            return True
        except OSError:
            return False

    @staticmethod
    def superuser():
        """Who started it."""
        return pwd.getpwuid(os.geteuid()).pw_name

    def set_quota(self, path, space):
        """So many bytes of `path`, all copies counted; -1: any number."""
        self.ask("PUT", path, f"SETQUOTA&storagespacequota={space}", self.superuser())
