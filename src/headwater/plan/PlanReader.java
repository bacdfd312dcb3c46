import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.QueryPlan;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.View;
import org.apache.spark.sql.catalyst.trees.Origin;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.InputAdapter;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.QueryStageExec;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.UserDefinedType;
import org.apache.spark.util.AccumulatorV2;

/**
 * One plan as one text: every field of every node, what a node puts out, and the rows of literal relations.
 *
 * <p>Catalyst's own JSON leaves out a node's output, literal rows, lists of lists and maps, and asking for them
 * node by node takes a round trip each. This is compiled by the compiler that Spark brings along for its own
 * generated code (Janino, which knows no lambdas and no generics worth the name), once per process.
 *
 * <p>The text is JSON: nodes in post-order, each naming its inner nodes by their position; then attributes and
 * types. It is deflated, because an answer of more than one packet costs py4j forty milliseconds.
 */
public class PlanReader {
  private static final String SPARK = "org.apache.spark.sql.catalyst.";
  private static final String[] SHORTENED = {
    SPARK + "analysis.", SPARK + "expressions.", SPARK + "optimizer.", SPARK + "plans."
  };
  private static final String INLINED = "_pyspark_connect_temp_view_";
  private static final int LONGEST_WRITTEN = 200;

  private boolean opensViews;
  private boolean isResolved;
  private ArrayList nodes;
  private LinkedHashMap attributes;
  private HashMap types;
  private IdentityHashMap typesSeen;
  private ArrayList typeTexts;

  /**
   * Reads a plan.
   *
   * @param plan a logical or physical plan.
   * @param opensViews whether to read what lies below registered views; without it they are leaves.
   * @param isResolved whether nodes can be asked for their output and expressions for their type.
   */
  public synchronized String read(Object plan, boolean opensViews, boolean isResolved) throws Exception {
    this.opensViews = opensViews;
    this.isResolved = isResolved;
    this.nodes = new ArrayList();
    this.attributes = new LinkedHashMap();
    this.types = new HashMap();
    this.typesSeen = new IdentityHashMap();
    this.typeTexts = new ArrayList();
    StringBuilder root = new StringBuilder();
    value(plan, root);
    StringBuilder text = new StringBuilder("{\"root\":").append(root);
    list(",\"nodes\":", nodes, text);
    list(",\"attributes\":", new ArrayList(attributes.values()), text);
    list(",\"types\":", typeTexts, text);
    return deflated(text.append('}').toString());
  }

  /** What each operator of a physical plan has counted, in prefix order, with its depth. */
  public String metrics(SparkPlan plan) throws Exception {
    ArrayList texts = new ArrayList();
    metrics(plan, 0, texts);
    StringBuilder text = new StringBuilder();
    list("", texts, text);
    return deflated(text.toString());
  }

  private static void metrics(SparkPlan plan, int depth, ArrayList to) {
    SparkPlan inner = plan;
    while (inner instanceof QueryStageExec || inner instanceof InputAdapter) {
      inner = inner instanceof QueryStageExec ? ((QueryStageExec) inner).plan() : ((InputAdapter) inner).child();
    }
    StringBuilder text = new StringBuilder("[").append(depth).append(',');
    quoted(inner.nodeName(), text);
    text.append(",{");
    String comma = "";
    scala.collection.Iterator each = inner.metrics().iterator();
    while (each.hasNext()) {
      scala.Tuple2 pair = (scala.Tuple2) each.next();
      text.append(comma);
      quoted((String) pair._1(), text);
      text.append(':').append(((AccumulatorV2) pair._2()).value());
      comma = ",";
    }
    to.add(text.append("}]").toString());
    scala.collection.Iterator children = inner.children().iterator();
    while (children.hasNext()) {
      metrics((SparkPlan) children.next(), depth + 1, to);
    }
  }

  private static void list(String head, ArrayList texts, StringBuilder to) {
    to.append(head).append('[');
    for (int i = 0; i < texts.size(); i++) {
      to.append(i == 0 ? "" : ",").append((String) texts.get(i));
    }
    to.append(']');
  }

  private static String deflated(String text) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    Deflater deflater = new Deflater(Deflater.BEST_SPEED);
    DeflaterOutputStream out = new DeflaterOutputStream(bytes, deflater);
    out.write(text.getBytes(StandardCharsets.UTF_8));
    out.close();
    deflater.end();
    return Base64.getEncoder().encodeToString(bytes.toByteArray());
  }

  private void value(Object value, StringBuilder to) throws Exception {
    if (value == null || value instanceof Boolean || value instanceof Integer || value instanceof Long) {
      to.append(value);
    } else if (value instanceof QueryPlan) {
      plan((QueryPlan) value, to);
    } else if (value instanceof Expression) {
      expression((Expression) value, to);
    } else if (value instanceof String || value instanceof Number || value instanceof Character
        || value instanceof Enum || value instanceof scala.Enumeration.Value) {
      quoted(value.toString(), to);
    } else if (value instanceof ExprId) {
      to.append("{\"id\":").append(((ExprId) value).id()).append('}');
    } else if (value instanceof DataType) {
      to.append("{\"type\":").append(typeOf((DataType) value)).append('}');
    } else if (value instanceof scala.Option) {
      scala.Option option = (scala.Option) value;
      value(option.isEmpty() ? null : option.get(), to);
    } else if (value instanceof scala.collection.Iterable) {
      iterable((scala.collection.Iterable) value, to);
    } else if (value instanceof Map) {
      pairs((Map) value, to);
    } else if (value instanceof Object[]) {
      iterable(scala.collection.immutable.ArraySeq.unsafeWrapArray(value), to);
    } else if (value instanceof CatalogTable) {
      to.append("{\"table\":");
      quoted(((CatalogTable) value).identifier().table(), to);
      to.append('}');
    } else if (value instanceof scala.Product && isOpen(value)) {
      to.append("{\"value\":");
      quoted(nameOf(value), to);
      fields((scala.Product) value, to);
      to.append('}');
    } else {
      to.append("{\"opaque\":");
      quoted(value.getClass().getName(), to);
      to.append('}');
    }
  }

  /** What is inside the values of other packages is not the plan's: file indices, sessions, whole logs. */
  private static boolean isOpen(Object value) {
    String name = value.getClass().getName();
    return name.startsWith(SPARK) || name.startsWith("scala.Tuple");
  }

  /** Lists, sets and maps; a map is a list of pairs. What has no order of its own is sorted. */
  private void iterable(scala.collection.Iterable values, StringBuilder to) throws Exception {
    ArrayList texts = new ArrayList();
    scala.collection.Iterator each = values.iterator();
    while (each.hasNext()) {
      StringBuilder text = new StringBuilder();
      value(each.next(), text);
      texts.add(text.toString());
    }
    if (values instanceof scala.collection.Set || values instanceof scala.collection.Map) {
      Collections.sort(texts);
    }
    list("", texts, to);
  }

  private void pairs(Map values, StringBuilder to) throws Exception {
    ArrayList texts = new ArrayList();
    for (Object each : new TreeMap(values).entrySet()) {
      StringBuilder text = new StringBuilder("[");
      value(((Map.Entry) each).getKey(), text);
      text.append(',');
      value(((Map.Entry) each).getValue(), text);
      texts.add(text.append(']').toString());
    }
    list("", texts, to);
  }

  private void fields(scala.Product value, StringBuilder to) throws Exception {
    to.append(",\"fields\":{");
    for (int i = 0; i < value.productArity(); i++) {
      to.append(i == 0 ? "" : ",");
      quoted(value.productElementName(i), to);
      to.append(':');
      value(value.productElement(i), to);
    }
    to.append('}');
  }

  private void plan(QueryPlan plan, StringBuilder to) throws Exception {
    StringBuilder text = new StringBuilder("{\"plan\":");
    quoted(nameOf(plan), text);
    if (isResolved) {
      output(plan, text);
    }
    String view = plan instanceof View ? ((View) plan).desc().identifier().table() : null;
    if (view != null) {
      text.append(",\"name\":");
      quoted(view, text);
      text.append(",\"temporary\":").append(((View) plan).isTempView());
      names(plan, text);
    }
    paths(plan, text);
    if (plan instanceof LocalRelation) {
      LocalRelation rows = (LocalRelation) plan;
      text.append(",\"rows\":").append(rows.data().size());
      text.append(",\"digest\":\"").append(isResolved ? digest(rows) : "").append('"');
    } else if (view == null || opensViews || view.startsWith(INLINED)) {
      fields((scala.Product) plan, text);
    }
    node(text.append('}').toString(), to);
  }

  /** Where a scan of an optimised or physical plan reads. */
  private static void paths(QueryPlan plan, StringBuilder to) {
    Object relation = null;
    if (plan instanceof LogicalRelation) {
      relation = ((LogicalRelation) plan).relation();
    } else if (plan instanceof FileSourceScanExec) {
      relation = ((FileSourceScanExec) plan).relation();
    }
    if (relation instanceof HadoopFsRelation) {
      ArrayList texts = new ArrayList();
      scala.collection.Iterator each = ((HadoopFsRelation) relation).location().rootPaths().iterator();
      while (each.hasNext()) {
        StringBuilder text = new StringBuilder();
        quoted(each.next().toString(), text);
        texts.add(text.toString());
      }
      list(",\"paths\":", texts, to);
    }
  }

  private void node(String text, StringBuilder to) {
    to.append("{\"node\":").append(nodes.size()).append('}');
    nodes.add(text);
  }

  private void output(QueryPlan plan, StringBuilder to) {
    to.append(",\"output\":[");
    scala.collection.Iterator each = plan.output().iterator();
    String comma = "";
    while (each.hasNext()) {
      Attribute attribute = (Attribute) each.next();
      Long id = Long.valueOf(attribute.exprId().id());
      to.append(comma).append(id.longValue());
      comma = ",";
      if (!attributes.containsKey(id)) {
        attributes.put(id, attribute(attribute));
      }
    }
    to.append(']');
  }

  /** What a view calls its columns: a query above it may have written their names in other letters. */
  private void names(QueryPlan plan, StringBuilder to) {
    ArrayList texts = new ArrayList();
    scala.collection.Iterator each = isResolved ? plan.output().iterator() : null;
    while (each != null && each.hasNext()) {
      StringBuilder text = new StringBuilder();
      quoted(((Attribute) each.next()).name(), text);
      texts.add(text.toString());
    }
    list(",\"columns\":", texts, to);
  }

  private String attribute(Attribute attribute) {
    StringBuilder text = new StringBuilder("[").append(attribute.exprId().id()).append(',');
    quoted(attribute.name(), text);
    text.append(',').append(typeOf(attribute.dataType())).append(',').append(attribute.nullable());
    return text.append(',').append(attribute.metadata().json()).append(']').toString();
  }

  private void expression(Expression expression, StringBuilder to) throws Exception {
    StringBuilder text = new StringBuilder("{\"expression\":");
    quoted(nameOf(expression), text);
    DataType type = isResolved ? typeOf(expression) : null;
    if (type != null) {
      text.append(",\"type\":").append(typeOf(type));
    }
    if (expression instanceof NamedExpression && expression.resolved()) {
      text.append(",\"id\":").append(((NamedExpression) expression).exprId().id()).append(",\"name\":");
      quoted(((NamedExpression) expression).name(), text);
    }
    if (expression instanceof Literal) {
      StringBuilder words = new StringBuilder();
      text(((Literal) expression).value(), ((Literal) expression).dataType(), words);
      text.append(",\"literal\":");
      quoted(words.toString(), text);
      written(expression.origin(), text);
    } else if (!isResolved || !(expression instanceof Attribute)) {
      fields((scala.Product) expression, text);
    }
    node(text.append('}').toString(), to);
  }

  /** The parts of a window have no type, and say so by an exception. */
  private static DataType typeOf(Expression expression) {
    try {
      return expression.resolved() ? expression.dataType() : null;
    } catch (Exception error) {
      return null;
    }
  }

  /** What stood in the text: the parser makes a date of date'today', and only the text tells. */
  private static void written(Origin origin, StringBuilder to) {
    if (origin.sqlText().isDefined() && origin.startIndex().isDefined() && origin.stopIndex().isDefined()) {
      String sql = (String) origin.sqlText().get();
      int start = ((Integer) origin.startIndex().get()).intValue();
      int stop = ((Integer) origin.stopIndex().get()).intValue();
      if (0 <= start && start <= stop && stop < sql.length() && stop - start < LONGEST_WRITTEN) {
        to.append(",\"written\":");
        quoted(sql.substring(start, stop + 1), to);
      }
    }
  }

  private int typeOf(DataType type) {
    Object known = typesSeen.get(type);
    if (known == null) {
      known = types.get(type);
      if (known == null) {
        known = Integer.valueOf(typeTexts.size());
        types.put(type, known);
        typeTexts.add(type.json());
      }
      typesSeen.put(type, known);
    }
    return ((Integer) known).intValue();
  }

  private static String nameOf(Object value) {
    String name = value.getClass().getName();
    name = name.endsWith("$") ? name.substring(0, name.length() - 1) : name;
    for (int i = 0; i < SHORTENED.length; i++) {
      if (name.startsWith(SHORTENED[i])) {
        return name.substring(name.lastIndexOf('.') + 1);
      }
    }
    return name;
  }

  private static void quoted(String text, StringBuilder to) {
    to.append('"').append(JsonStringEncoder.getInstance().quoteAsString(text)).append('"');
  }

  private static String digest(LocalRelation relation) throws Exception {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    StructType schema = relation.schema();
    scala.collection.Iterator each = relation.data().iterator();
    while (each.hasNext()) {
      StringBuilder row = new StringBuilder();
      text(each.next(), schema, row);
      digest.update(row.toString().getBytes(StandardCharsets.UTF_8));
    }
    return hex(digest.digest());
  }

  /** A value of Catalyst's; every part has its length or its end, so that no two values have one text. */
  private static void text(Object value, DataType type, StringBuilder to) {
    if (value == null) {
      to.append("null;");
    } else if (type instanceof UserDefinedType) {
      text(value, ((UserDefinedType) type).sqlType(), to);
    } else if (value instanceof InternalRow) {
      StructField[] fields = ((StructType) type).fields();
      to.append("struct ").append(fields.length).append(':');
      for (int i = 0; i < fields.length; i++) {
        text(((InternalRow) value).get(i, fields[i].dataType()), fields[i].dataType(), to);
      }
    } else if (value instanceof ArrayData) {
      array((ArrayData) value, ((ArrayType) type).elementType(), to);
    } else if (value instanceof MapData) {
      array(((MapData) value).keyArray(), ((MapType) type).keyType(), to);
      array(((MapData) value).valueArray(), ((MapType) type).valueType(), to);
    } else {
      String words = value instanceof byte[] ? hex((byte[]) value) : value.toString();
      to.append(words.length()).append(':').append(words).append(';');
    }
  }

  private static void array(ArrayData array, DataType type, StringBuilder to) {
    to.append("array ").append(array.numElements()).append(':');
    for (int i = 0; i < array.numElements(); i++) {
      text(array.get(i, type), type, to);
    }
  }

  private static String hex(byte[] bytes) {
    StringBuilder hex = new StringBuilder();
    for (int i = 0; i < bytes.length; i++) {
      hex.append(Character.forDigit((bytes[i] >> 4) & 15, 16)).append(Character.forDigit(bytes[i] & 15, 16));
    }
    return hex.toString();
  }
}
