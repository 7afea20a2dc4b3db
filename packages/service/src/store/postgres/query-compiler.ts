import { OperatorNode, PostgresQueryCompiler, PrimitiveValueListNode } from 'kysely';
import type { BinaryOperationNode } from 'kysely';

/** Compiles `in` with an empty list, which PostgreSQL rejects, to what it means on SQLite: no value is in an empty list. */
export class QueryCompiler extends PostgresQueryCompiler {
  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const { operator, rightOperand } = node;
    const isEmpty = PrimitiveValueListNode.is(rightOperand) && rightOperand.values.length === 0;
    if (isEmpty && OperatorNode.is(operator) && operator.operator === 'in') this.append('false');
    else if (isEmpty && OperatorNode.is(operator) && operator.operator === 'not in') this.append('true');
    else super.visitBinaryOperation(node);
  }
}
