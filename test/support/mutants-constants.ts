/**
 * Constants of modules whose changes can be switched on after they are loaded. Stryker places the
 * switch in the initializer, which runs once; here each use of `LIMIT` becomes `LIMIT__late()`,
 * which runs the initializer again for each test and each change.
 */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseSync, traverse, types, type NodePath } from '@babel/core'

const SWITCH = 'stryMutAct_9fa48'
const SUFFIX = '__late'
const LATE = `(globalThis.__late__ ??= (make) => {
  let key, value;
  return () => {
    const { activeMutant, currentTestId } = globalThis.__stryker__ ?? {};
    const now = activeMutant + ' ' + currentTestId;
    if (now !== key) value = make();
    key = now;
    return value;
  };
})`

interface Edit {
  start: number
  end: number
  text: string
}
interface Module {
  text: string
  program: NodePath<types.Program>
}

/**
 * @param files instrumented sources by path, from the root of the project
 * @returns these, and the sources and tests that import their constants
 */
export function withLateConstants(files: [path: string, text: string][]): [string, string][] {
  const modules = new Map(files.map(([path, text]) => [path, moduleOf(path, text)]))
  const late = new Map([...modules].map(([path, { program }]) => [path, lateNames(program)]))
  const names = [...late.values()].flatMap((some) => [...some])
  if (names.length === 0) return files
  const exported = new RegExp(`\\b(${names.join('|')})\\b`)
  for (const path of globSync(['src/**/*.ts', 'test/**/*.ts'])) {
    const text = modules.has(path) || path.endsWith('.d.ts') ? '' : readFileSync(path, 'utf8')
    if (/^import /m.test(text) && exported.test(text)) modules.set(path, moduleOf(path, text))
  }
  return [...modules].flatMap(([path, module]): [string, string][] => {
    const edits = [
      ...editsOfDeclarations(module, late.get(path) ?? new Set()),
      ...editsOfImports(module, path, late),
    ]
    return edits.length > 0 || late.has(path) ? [[path, applied(module.text, edits)]] : []
  })
}

function moduleOf(path: string, text: string): Module {
  const ast = parseSync(text, {
    filename: path,
    configFile: false,
    babelrc: false,
    browserslistConfigFile: false,
    parserOpts: { plugins: ['typescript'] },
  })
  if (!ast) throw new Error(`${path} cannot be parsed`)
  const found: { program?: NodePath<types.Program> } = {}
  traverse(ast, { Program: (program) => void (found.program = program) })
  if (!found.program) throw new Error(`${path} has no program`)
  return { text, program: found.program }
}

/** Constants whose initializer has a switch, or another such constant, and can run again. */
function lateNames(program: NodePath<types.Program>): Set<string> {
  const late = new Set<string>()
  for (const { name, init } of constantsOf(program)) {
    if (canRunAgain(init, late)) late.add(name)
  }
  return late
}

interface Constant {
  name: string
  init: NodePath<types.Expression>
  /** The whole `const …`, with `export` before it. */
  statement: types.Statement
  isExported: boolean
}

function constantsOf(program: NodePath<types.Program>): Constant[] {
  return program.get('body').flatMap((statement) => {
    const isExported = statement.isExportNamedDeclaration()
    const declaration = isExported ? statement.get('declaration') : statement
    if (!declaration.isVariableDeclaration({ kind: 'const' })) return []
    return declaration.get('declarations').flatMap((one) => {
      const [id, init] = [one.node.id, one.get('init')]
      if (!types.isIdentifier(id) || !init.isExpression()) return []
      return [{ name: id.name, init, statement: statement.node, isExported }]
    })
  })
}

/** Literals and what is put together of them: neither functions nor calls, nor objects that change. */
function canRunAgain(init: NodePath<types.Expression>, late: Set<string>): boolean {
  let isPlain = true
  let isSwitched = false
  const visit = (path: NodePath): void => {
    if (path.isIdentifier()) {
      isSwitched ||= path.node.name === SWITCH || late.has(path.node.name)
    }
    if (path.isFunction() || path.isClass() || path.isAwaitExpression()) isPlain = false
    if (path.isCallExpression()) {
      const { callee } = path.node
      isPlain &&= types.isIdentifier(callee) && callee.name.startsWith('stry')
    }
    if (path.isNewExpression()) {
      const { callee, arguments: given } = path.node
      isPlain &&= types.isIdentifier(callee, { name: 'Set' }) && given.length > 0
    }
  }
  visit(init)
  init.traverse({ enter: visit })
  return isPlain && isSwitched
}

function editsOfDeclarations({ program, text }: Module, late: Set<string>): Edit[] {
  return constantsOf(program).flatMap(({ name, init, statement, isExported }) => {
    if (!late.has(name)) return []
    const { start, end } = placeOf(init.node)
    const other = `${name}${SUFFIX}`
    const prefix = isExported ? 'export const' : 'const'
    return [
      // The initializer moves before its statement; uses in it are changed where they stand.
      {
        start: placeOf(statement).start,
        end: placeOf(statement).start,
        text: `${prefix} ${other} = ${LATE}(() => (`,
      },
      { start: placeOf(statement).start, end: start, text: '' },
      { start: end, end, text: `)); ${text.slice(placeOf(statement).start, start)}${other}()` },
      ...editsOfUses(program, name, other, late),
    ]
  })
}

function editsOfImports({ program }: Module, path: string, late: Map<string, Set<string>>): Edit[] {
  return program.get('body').flatMap((statement) => {
    if (!statement.isImportDeclaration() || statement.node.importKind === 'type') return []
    const from = statement.node.source.value
    const exported = late.get(join(dirname(path), from))
    if (exported === undefined) return []
    return statement.node.specifiers.flatMap((one): Edit[] => {
      if (!types.isImportSpecifier(one) || !types.isIdentifier(one.imported)) return []
      const { name } = one.imported
      if (!exported.has(name) || one.importKind === 'type') return []
      const other = `${one.local.name}${SUFFIX}`
      const { end } = placeOf(statement.node)
      const text = `\nimport { ${name}${SUFFIX} as ${other} } from '${from}';`
      return [{ start: end, end, text }, ...editsOfUses(program, one.local.name, other, new Set())]
    })
  })
}

/** Uses in functions, and in constants that run again themselves. */
function editsOfUses(
  program: NodePath<types.Program>,
  name: string,
  other: string,
  late: Set<string>,
): Edit[] {
  const uses = program.scope.getBinding(name)?.referencePaths ?? []
  return uses.flatMap((use): Edit[] => {
    const declarator = use.findParent((path) => path.isVariableDeclarator())?.node
    const isLater =
      use.getFunctionParent() !== null ||
      (types.isVariableDeclarator(declarator) &&
        types.isIdentifier(declarator.id) &&
        late.has(declarator.id.name))
    if (!isLater || !use.isIdentifier() || use.findParent((path) => path.isTSType())) return []
    const { start, end } = placeOf(use.node)
    const isShort = use.parentPath.isObjectProperty({ shorthand: true })
    return [{ start, end, text: isShort ? `${name}: ${other}()` : `${other}()` }]
  })
}

const placeOf = ({ start, end }: types.Node): { start: number; end: number } => {
  if (typeof start !== 'number' || typeof end !== 'number') throw new Error('a node has no place')
  return { start, end }
}

function applied(text: string, edits: Edit[]): string {
  let [result, at] = ['', 0]
  const inOrder = edits.toSorted((one, other) => one.start - other.start || one.end - other.end)
  for (const edit of inOrder) {
    result += text.slice(at, edit.start) + edit.text
    at = edit.end
  }
  return result + text.slice(at)
}
