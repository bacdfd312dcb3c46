"""Functions of the catalogue become functions of a session's SQL: polymorphic, documented, part of the plan.

A call in SQL is replaced, while Spark resolves it, by the function's own expression with the arguments filled
in: the same built-in expressions that Python callers get, so the planner sees through them and nothing is
cast on the way. What fills them in is a few lines of Java that Spark's own compiler (Janino) takes; nothing
calls back into Python. Not here: what the functions are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from pyspark.sql.connect.proto import base_pb2, expressions_pb2, relations_pb2

from headwater.functions import PLACEHOLDER
from headwater.runtime.planner import connect_planner

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.functions import FunctionDefinition, FunctionSnapshot

_CLASS = "headwater.FunctionTemplate"
# Between functions and between the facts of one; neither is in any text that people write.
_RECORD, _FACT = "\x1e", "\x1f"
_JAVA = (
    """
package headwater;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.connect.proto.Plan;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.catalyst.expressions.NamedArgumentExpression;
import org.apache.spark.sql.connect.planner.SparkConnectPlanner;
import org.apache.spark.sql.errors.QueryCompilationErrors;
import org.apache.spark.unsafe.Platform;
import scala.Option;
import scala.collection.immutable.Seq;

public final class FunctionTemplate extends scala.runtime.AbstractFunction1 {
  private final String name;
  private final Map byArity;

  private FunctionTemplate(String name, Map byArity) {
    this.name = name;
    this.byArity = byArity;
  }

  public Object apply(Object arguments) {
    Seq given = (Seq) arguments;
    Expression template = (Expression) byArity.get(Integer.valueOf(given.length()));
    if (template == null) {
      List arities = new java.util.ArrayList(new java.util.TreeSet(byArity.keySet()));
      Seq known = org.apache.spark.api.python.PythonUtils.toSeq(arities);
      Platform.throwException(
        QueryCompilationErrors.wrongNumArgsError(name, known, given.length(), "", "", ""));
    }
    for (int place = 0; place < given.length(); place++) {
      if (given.apply(place) instanceof NamedArgumentExpression) {
        Platform.throwException(QueryCompilationErrors.namedArgumentsNotSupported(name));
      }
    }
    return new Called((Alias) template.transformUp(new Filling(given)));
  }

  // What Spark names if a call has DISTINCT, FILTER or the like. As soon as it resolves what is inside, it
  // makes a plain alias of it: no plan that runs holds this class.
  public static final class Called extends Alias {
    public Called(Alias made) {
      super(made.child(), made.name(), made.exprId(), made.qualifier(), made.explicitMetadata(),
        made.nonInheritableMetadataKeys());
    }

    public String prettyName() { return name(); }
  }

  public static void install(
      FunctionRegistry registry, SparkConnectPlanner planner, byte[] plan, String described)
      throws Exception {
    List templates = Plan.parseFrom(plan).getRoot().getProject().getExpressionsList();
    String[] functions = described.split("RECORD");
    int next = 0;
    for (int f = 0; f < functions.length; f++) {
      String[] facts = functions[f].split("FACT", -1);
      Map byArity = new HashMap();
      String[] arities = facts[1].split(",");
      for (int a = 0; a < arities.length; a++) {
        Object template = templates.get(next++);
        byArity.put(Integer.valueOf(arities[a]),
          planner.transformExpression((org.apache.spark.connect.proto.Expression) template));
      }
      ExpressionInfo info = new ExpressionInfo(
        "headwater.FunctionTemplate", null, facts[0], facts[2], "", facts[3], facts[4], "", "", "", "");
      FunctionIdentifier identifier =
        new FunctionIdentifier(facts[0], Option.apply("session"), Option.apply("system"));
      registry.registerFunction(identifier, info, new FunctionTemplate(facts[0], byArity));
    }
  }

  public static final class Filling extends scala.runtime.AbstractPartialFunction {
    private final Seq given;

    public Filling(Seq given) { this.given = given; }

    public boolean isDefinedAt(Object node) { return node instanceof Alias || place(node) >= 0; }

    // An alias has an identity: two calls in one query must not share the template's.
    public Object applyOrElse(Object node, scala.Function1 otherwise) {
      if (node instanceof Alias) return ((Alias) node).newInstance();
      int place = place(node);
      return place >= 0 ? given.apply(place) : otherwise.apply(node);
    }

    private static int place(Object node) {
      if (!(node instanceof UnresolvedAttribute)) return -1;
      String name = ((UnresolvedAttribute) node).name();
      if (!name.startsWith("PLACEHOLDER")) return -1;
      return Integer.parseInt(name.substring("PLACEHOLDER".length()));
    }
  }
}
""".replace("PLACEHOLDER", PLACEHOLDER)
    .replace("RECORD", _RECORD)
    .replace("FACT", _FACT)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionInstaller:
    """The compiled Java and a Connect planner: made once per application."""

    java: Any
    planner: Any

    @classmethod
    def of(cls, root: SparkSession) -> FunctionInstaller:
        """An installer for sessions of the application that `root` belongs to."""
        jvm: Any = root._jvm
        compiler = jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
        compiler.cook(_JAVA)
        methods = compiler.getClassLoader().loadClass(_CLASS).getMethods()
        return cls(
            java=next(method for method in methods if method.getName() == "install"),
            planner=connect_planner(jvm, root._jsparkSession),
        )

    def install(self, session: SparkSession, functions: FunctionSnapshot) -> None:
        """Makes the functions known to a session, in one call; its clones will know them, too."""
        gateway: Any = session.sparkContext._gateway
        state = cast("Any", session._jsparkSession).sessionState()
        arguments = gateway.new_array(gateway.jvm.java.lang.Object, 4)
        arguments[0] = state.functionRegistry()
        arguments[1] = self.planner
        arguments[2] = _templates(functions)
        arguments[3] = _RECORD.join(_FACT.join(_described(each)) for each in functions.definitions)
        self.java.invoke(None, arguments)


def _templates(functions: FunctionSnapshot) -> bytes:
    """The templates of all functions and arities, in order, as one projection."""
    project = relations_pb2.Project(
        expressions=[
            expressions_pb2.Expression.FromString(definition.template(arity).content)
            for definition in functions.definitions
            for arity in definition.arities
        ]
    )
    return base_pb2.Plan(root=relations_pb2.Relation(project=project)).SerializeToString()


def _described(definition: FunctionDefinition[...]) -> tuple[str, ...]:
    """Name and arities, then what DESCRIBE FUNCTION shows: usage, examples, note."""
    examples = "\n".join(f"      > {each.sql};\n       {each.result}" for each in definition.examples)
    return (
        definition.name,
        ",".join(str(arity) for arity in definition.arities),
        f"{definition.signature}\n{definition.doc}",
        f"\n    Examples:\n{examples}\n  ",
        f"\n    Tags: {', '.join(definition.tags)}. Version {definition.version}.\n  ",
    )
