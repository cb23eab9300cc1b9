/**
 * Kinds of changes that Stryker does not make: numbers that are compared or declared, entries of
 * tables, `await`, defaults of arguments, and calls without a result. Strings that are compared are
 * among Stryker's own.
 */
import { types, type NodePath } from '@babel/core'
import { allMutators } from '../../node_modules/@stryker-mutator/instrumenter/dist/src/mutators/index.js'

type Mutator = (typeof allMutators)[number]

const COMPARISONS = new Set(['<', '<=', '>', '>=', '==', '===', '!=', '!=='])

/** Below this, a number is a count, and one more of it is tried; above, twice and half of it. */
const LEAST_QUANTITY = 10

/** `1000` in `a < 1000`, `const A = 1000`, `{ a: 1000 }`, `[1000]` and `(a = 1000)`. */
const numbers: Mutator = {
  name: 'Number',
  *mutate(path) {
    if (!path.isNumericLiteral() || !decides(path)) return
    const { value } = path.node
    if (value < LEAST_QUANTITY) yield types.numericLiteral(value + 1)
    else for (const other of [value * 2, value / 2]) yield types.numericLiteral(other)
  },
}

function decides(path: NodePath): boolean {
  const parent = path.parentPath
  if (!parent) return false
  if (parent.isBinaryExpression()) {
    return COMPARISONS.has(parent.node.operator) || isOfModule(path)
  }
  if (parent.isAssignmentPattern()) return parent.node.right === path.node
  if (parent.isObjectProperty()) return parent.node.value === path.node
  return (parent.isVariableDeclarator() || parent.isArrayExpression()) && isOfModule(path)
}

/** Whether it is evaluated once, when its module is loaded. */
const isOfModule = (path: NodePath): boolean => !path.getFunctionParent()

/** Leaves out one entry of a module's array, set, map or object. */
const entries: Mutator = {
  name: 'Entry',
  *mutate(path) {
    if (!isOfModule(path)) return
    if (path.isArrayExpression() && path.node.elements.length > 1) {
      for (const one of path.node.elements) {
        const rest = path.node.elements.filter((other) => other !== one)
        yield types.arrayExpression(rest.map((element) => element && copyOf(element)))
      }
    }
    if (path.isObjectExpression() && path.node.properties.length > 1) {
      for (const one of path.node.properties) {
        const rest = path.node.properties.filter((other) => other !== one)
        yield types.objectExpression(rest.map(copyOf))
      }
    }
  },
}

const copyOf = <N extends types.Node>(node: N): N => types.cloneNode(node, true)

/**
 * `await a()` as a statement becomes `void a()`; elsewhere the promise itself is the value. What is
 * returned is left alone: it is waited for by the caller.
 */
const awaits: Mutator = {
  name: 'Await',
  *mutate(path) {
    const { parentPath: parent } = path
    if (!path.isAwaitExpression() || parent?.isArrowFunctionExpression()) return
    if (parent?.isReturnStatement() && !path.findParent((one) => one.isTryStatement())) return
    const promise = copyOf(path.node.argument)
    yield parent?.isExpressionStatement() ? types.unaryExpression('void', promise) : promise
  },
}

/** `(a = b)` becomes `(a = undefined)`, where no other change is made of `b`. */
const defaults: Mutator = {
  name: 'Default',
  *mutate(path) {
    const isDefault = path.key === 'right' && path.parentPath?.isAssignmentPattern()
    if (isDefault && !path.isNumericLiteral()) yield types.identifier('undefined')
  },
}

/** A call that is a statement is left out. */
const calls: Mutator = {
  name: 'Call',
  *mutate(path) {
    if (!path.isExpressionStatement()) return
    const { expression } = path.node
    const call = types.isAwaitExpression(expression) ? expression.argument : expression
    const isCall = types.isCallExpression(call) || types.isOptionalCallExpression(call)
    if (isCall && !types.isSuper(call.callee)) yield types.emptyStatement()
  },
}

/** Gives them to all instrumenters of this process, Stryker's own among them. */
export function addMutators(): void {
  allMutators.push(numbers, entries, awaits, defaults, calls)
}
