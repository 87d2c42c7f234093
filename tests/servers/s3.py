"""A real server of S3 for tests: S3Proxy on a directory, as scripts/get-jars brings it."""

import urllib.error
import urllib.request

import java_server

NAME = "s3proxy"
KEY, SECRET = "test-key", "test-secret"
# It says each request unless it is told not to.
LOGBACK = """<configuration><appender name="E" class="ch.qos.logback.core.ConsoleAppender">
<encoder><pattern>%msg%n</pattern></encoder></appender>
<root level="warn"><appender-ref ref="E"/></root></configuration>"""


def missing():
    return java_server.missing(NAME, "s3proxy-*.jar")


class Server(java_server.JavaServer):
    """With one bucket, "tests". `host` is where clients find it. It listens at `listens`, or there."""

    name = NAME

    def __init__(self, host="127.0.0.1", listens=None):
        super().__init__()
        self.host = host
        self.port = java_server.free_port()
        (self.folder / "data/tests").mkdir(parents=True)
        (self.folder / "logback.xml").write_text(LOGBACK)
        (self.folder / "s3proxy.conf").write_text(
            f"s3proxy.endpoint=http://{listens or host}:{self.port}\n"
            "s3proxy.authorization=aws-v4\n"
            f"s3proxy.identity={KEY}\n"
            f"s3proxy.credential={SECRET}\n"
            "jclouds.provider=filesystem-nio2\n"
            "jclouds.identity=none\n"
            "jclouds.credential=none\n"
            f"jclouds.filesystem.basedir={self.folder}/data\n")

    @property
    def endpoint(self):
        return f"http://{self.host}:{self.port}"

    def environment(self):
        """What a client is told; proxies are not for a server of this machine."""
        return {"AWS_ENDPOINT_URL": self.endpoint, "AWS_REGION": "us-east-1",
                "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "NO_PROXY": self.host,
                "no_proxy": self.host}

    def words(self):
        return [f"-Dlogback.configurationFile={self.folder}/logback.xml", "-cp",
                f"{java_server.jars(NAME)}/*", "org.gaul.s3proxy.Main", "--properties",
                str(self.folder / "s3proxy.conf")]

    def answers(self):
        try:
            urllib.request.build_opener(urllib.request.ProxyHandler({})).open(self.endpoint, timeout=5)
            return True
        except urllib.error.HTTPError:
            return True  # It wants to know who we are.
        except OSError:
            return False
