import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyEvmConfigs } from '../fixtures/evmConfigs.ts'
import { repositoryRoot } from '../fixtures/service.ts'

/** A folder with all configuration files, of chains that test networks run, to change at will. */
export type ConfigCopy = {
  readonly directory: string
  /** Replaces every occurrence of a piece of one file. @throws Error when there is none */
  replace(file: string, piece: string, by: string): Promise<void>
  /** Rewrites one file's JSON. */
  edit(file: string, change: (json: unknown) => unknown): Promise<void>
  remove(): Promise<void>
}

export const configsDirectory = join(repositoryRoot, 'configs')

export async function copyConfigs(): Promise<ConfigCopy> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-configs-'))
  await copyEvmConfigs(configsDirectory, directory)
  return {
    directory,
    async replace(file, piece, by) {
      const text = await readFile(join(directory, file), 'utf8')
      if (!text.includes(piece)) throw new Error(`${file} does not hold ${piece}`)
      await writeFile(join(directory, file), text.replaceAll(piece, by))
    },
    async edit(file, change) {
      const json: unknown = JSON.parse(await readFile(join(directory, file), 'utf8'))
      await writeFile(join(directory, file), JSON.stringify(change(json)))
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  }
}
