import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { unfilledPlaces } from '@causeway/chains'
import { ConfigurationError } from '@causeway/core'
import { counted, environmentName, splitList } from '@causeway/core/config'
import type { Command, Output } from './command.ts'
import { CommandError } from './commandError.ts'
import { type DraftedFiles, draftableChains, draftFiles, type ShippedFiles } from './draftedFiles.ts'

const repositoryRoot = fileURLToPath(new URL('../../../../..', import.meta.url))
const shippedFolder = join(repositoryRoot, 'configs')
/** Environments from whose files others are drafted. */
const sources = ['mainnets.prod', 'testnets.prod'] as const

export const draftCommands: readonly Command[] = [
  {
    words: 'config draft',
    about: 'Write the files of an environment of your own, with words where you have something to fill in',
    flags: {
      chains: { value: '<keys>', about: 'Chains to quote and pay on, e.g. base,optimism', isRequired: true },
      environment: { value: '<name>', about: 'By default ENVIRONMENT, else own.prod' },
      out: { value: '<folder>', about: 'By default CONFIG_DIR; what is there already is left as it is' },
    },
    async runWithoutSettings(variables, args) {
      const environmentText = args.text('environment') ?? variables['ENVIRONMENT']
      const environment = readEnvironment(environmentText || 'own.prod')
      const keys = splitList(args.text('chains'), ',')
      const drafted = draftFiles(await sourceOf(keys), { environment, keys })
      const folder = args.text('out') ?? (variables['CONFIG_DIR'] || 'configs')
      return writeDrafts(drafted, { environment, directory: resolve(repositoryRoot, folder) })
    },
  },
]

/** @throws CommandError for a name that is none, or that has files in this release */
function readEnvironment(name: string): string {
  const { success, error } = environmentName.safeParse(name)
  if (!success) throw new CommandError(`--environment ${error.issues[0]?.message ?? 'is no name'}.`)
  if (name === 'local' || sources.some((source) => source === name))
    throw new CommandError(
      `${name} is an environment of this release: --environment takes a name of your own.`,
    )
  return name
}

/** The shipped files that have all of these chains. @throws CommandError when none has */
async function sourceOf(keys: readonly string[]): Promise<ShippedFiles> {
  const chainLists: string[] = []
  for (const source of sources) {
    const files = await readShipped(source)
    const chains = draftableChains(files)
    if (keys.length > 0 && keys.every((key) => chains.includes(key))) return files
    chainLists.push(chains.join(', '))
  }
  throw new CommandError(`--chains takes some of ${chainLists.join('; or some of ')}.`)
}

async function readShipped(source: string): Promise<ShippedFiles> {
  const read = async (name: string): Promise<unknown> =>
    JSON.parse(await readFile(join(shippedFolder, `${name}.${source}.json`), 'utf8'))
  return {
    chains: await read('chains'),
    'chains.hub': await read('chains.hub'),
    quote: await read('quote'),
    solver: await read('solver'),
  }
}

/** Writes the drafts that do not exist yet. @throws ConfigurationError for a folder that cannot be written */
async function writeDrafts(
  drafted: DraftedFiles,
  { environment, directory }: { readonly environment: string; readonly directory: string },
): Promise<Output> {
  const written: string[] = []
  const existing: string[] = []
  const toFillIn: { readonly file: string; readonly path: string; readonly words: string }[] = []
  await writePlace(directory, () => mkdir(directory, { recursive: true }))
  for (const [name, content] of Object.entries(drafted)) {
    const file = `${name}.${environment}.json`
    const path = join(directory, file)
    if (await writeUnlessThere(path, content)) {
      written.push(path)
      toFillIn.push(...unfilledPlaces(content).map((place) => ({ file, ...place })))
    } else existing.push(path)
  }
  return {
    data: { environment, written, kept: existing, toFillIn },
    lines: [
      ...written.map((path) => `wrote ${path}`),
      ...existing.map((path) => `left as it is, because it is there already: ${path}`),
      ...toFillIn.map(({ file, path, words }) => `${file}: ${path}: ${words}`),
      `${counted(toFillIn.length, 'place')} to fill in. Until nothing is left, config check and the doctors name each.`,
    ],
  }
}

/** @returns false for a file that exists, which stays as it is @throws ConfigurationError */
async function writeUnlessThere(path: string, content: object): Promise<boolean> {
  const text = `${JSON.stringify(content, null, 2)}\n`
  return writePlace(path, async () => {
    try {
      await writeFile(path, text, { flag: 'wx' })
      return true
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false
      throw error
    }
  })
}

/** @throws ConfigurationError that says why a place cannot be written */
async function writePlace<Value>(path: string, write: () => Promise<Value>): Promise<Value> {
  try {
    return await write()
  } catch (error) {
    const code = codeOf(error)
    throw code === undefined ? error : new ConfigurationError(`${path} cannot be written (${code}).`)
  }
}

const codeOf = (error: unknown) =>
  error instanceof Error && 'code' in error ? String(error.code) : undefined
