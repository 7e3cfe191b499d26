import ts from 'typescript'
import { placeholdersOf } from '../configs/configFiles.ts'
import type { Check, Finding, RepositoryFile } from './finding.ts'
import { listedVariables, ownVariables, variablesOfFiles } from './listedVariables.ts'
import { visitNodes } from './syntax.ts'

const page = 'docs/operating/configuration.md'
/** Variables per chain, named by its key and listed once, as `<CHAIN>_RPC_URL`, `<CHAIN>_SIGNING_CAPS` and the like. */
const perChain = /_(RPC_URL|SIGNING_CAPS|FILL_WALLET_ADDRESS)$/
const sources = [
  'apps/quote-api/src/config/config.ts',
  'apps/oracle/src/compose/config.ts',
  'apps/solver/src/compose/config.ts',
  'apps/allocator/src/compose/config.ts',
]
/** Sources that may read a variable: the service and the packages it hands its environment to. */
const sourcePattern =
  /^(apps\/(quote-api|oracle|solver|allocator)|packages\/(?!localnet)[^/]+)\/src\/.*(?<!\.test)\.ts$/

/** The page of variables lists what the service reads and what the configuration files name. */
export const variablesCheck: Check = { name: 'variables', find: findUnlistedVariables }

function findUnlistedVariables(files: readonly RepositoryFile[]): readonly Finding[] {
  const textOf = (path: string) => files.find((file) => file.path === path)?.text ?? ''
  const own = namesIn(textOf(page), ownVariables).filter(
    (name) => !name.startsWith('CAUSEWAY_') || name === 'CAUSEWAY_LOCAL_DIR',
  )
  const ofFiles = namesIn(textOf(page), variablesOfFiles)
  const parsed = sources.flatMap((source) =>
    variablesReadBy(textOf(source)).map((name) => ({ source, name })),
  )
  const texts = files.filter(({ path }) => sourcePattern.test(path)).map(({ text }) => text)
  const placeholders = files
    .filter(({ path }) => /^configs\/[^/]+\.json$/.test(path))
    .flatMap(({ path, text }) => placeholdersOf(JSON.parse(text)).map((name) => ({ name, path })))
  return [
    ...parsed.filter(({ name }) => !own.includes(name)).map(({ source, name }) => missing(source, name)),
    ...own
      .filter((name) => !texts.some((text) => new RegExp(`\\b${name}\\b`).test(text)))
      .map((name) => unread(name)),
    ...placeholders
      .filter(({ name }) => !perChain.test(name) && !ofFiles.includes(name))
      .map(({ name, path }) => missing(path, name)),
  ]
}

const missing = (file: string, name: string): Finding => ({ file, problem: `${name} is not in ${page}` })
const unread = (name: string): Finding => ({ file: page, problem: `nothing reads ${name}` })

function namesIn(text: string, heading: RegExp): readonly string[] {
  return listedVariables(text, heading).flatMap(({ names }) => names)
}

/** Members of the schema object that `config.ts` calls `variables`. */
export function variablesReadBy(text: string): readonly string[] {
  const names: string[] = []
  visitNodes(text, (node) => {
    if (!ts.isVariableDeclaration(node) || node.name.getText() !== 'variables') return
    const schema = node.initializer
    const [members] = schema !== undefined && ts.isCallExpression(schema) ? schema.arguments : []
    if (members === undefined || !ts.isObjectLiteralExpression(members)) return
    for (const member of members.properties) if (member.name !== undefined) names.push(member.name.getText())
  })
  return names
}
