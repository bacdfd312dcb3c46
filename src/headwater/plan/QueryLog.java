import java.util.ArrayList;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.util.QueryExecutionListener;

/**
 * Keeps the queries that a session, and copies of it, have run to their end; until it is closed. Spark's bus of
 * events holds on to it, and a query to its session: whatever it kept would never go.
 */
public class QueryLog implements QueryExecutionListener {
  private final ArrayList executions = new ArrayList();
  private boolean closed;

  public synchronized void onSuccess(String name, QueryExecution execution, long nanoseconds) {
    if (!closed) {
      executions.add(execution);
    }
  }

  public void onFailure(String name, QueryExecution execution, Exception error) {}

  public synchronized void close() {
    closed = true;
    executions.clear();
  }

  public synchronized int size() {
    return executions.size();
  }

  /** The physical plan of a query, as its stages have shaped it. */
  public synchronized SparkPlan plan(int index) {
    SparkPlan plan = ((QueryExecution) executions.get(index)).executedPlan();
    return plan instanceof AdaptiveSparkPlanExec ? ((AdaptiveSparkPlanExec) plan).executedPlan() : plan;
  }
}
