#!/bin/sh
# Exits 1 with one sentence unless a Java 17 or newer is there: JAVA_HOME first, then the PATH.
java=java
[ -n "${JAVA_HOME:-}" ] && java="$JAVA_HOME/bin/java"
if ! command -v "$java" >/dev/null 2>&1; then
  echo "Headwater needs Java 17 or newer and found none: install a JDK or JRE 17+ (for example the package openjdk-17-jre-headless) or point JAVA_HOME at one." >&2
  exit 1
fi
version=$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)
if [ -z "$version" ] || [ "$version" -lt 17 ]; then
  echo "Headwater needs Java 17 or newer and $java is version ${version:-unknown}: install a JDK or JRE 17+ (for example the package openjdk-17-jre-headless) or point JAVA_HOME at one." >&2
  exit 1
fi
