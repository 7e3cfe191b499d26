import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import { parseSecretsFile } from './parseSecretsFile.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Where an agent mounts secrets; `SECRETS_DIR` names another place. @source attestation-oracle.md; oracle-protocol.md 6.1 */
export const defaultSecretsDirectory = '/vault/secrets'

/**
 * The environment, completed by every regular file of `directory`; a variable that is already set
 * wins. Empty and blank is not set, in the environment and in files: a template that leaves
 * `API_KEYS=` behind must not hide the secret. No directory is no secrets. Files are read in name
 * order; two files that disagree about a variable, an unreadable or a malformed file refuse the start.
 * @throws ConfigurationError naming the file, never its content
 */
export async function loadSecrets(options: {
  environment: Environment
  directory?: string
}): Promise<Environment> {
  const { environment } = options
  const named = environment['SECRETS_DIR']
  const { directory = named === undefined || isBlank(named) ? defaultSecretsDirectory : named } = options
  const secrets = new Map<string, string>()
  for (const name of await listFiles(directory)) {
    const values = parseSecretsFile(await readSecretsFile(join(directory, name), name), name)
    for (const [key, value] of values) {
      if (isBlank(value)) continue
      if (secrets.has(key) && secrets.get(key) !== value) {
        throw new ConfigurationError(`${key} has two values; the second is in the secrets file ${name}.`)
      }
      secrets.set(key, value)
    }
  }
  const set = Object.entries(environment).filter(([, value]) => value !== undefined && !isBlank(value))
  return Object.fromEntries([...secrets, ...set])
}

function isBlank(value: string): boolean {
  return value.trim() === ''
}

async function listFiles(directory: string): Promise<readonly string[]> {
  let names: string[]
  try {
    names = await readdir(directory)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw new ConfigurationError('The secrets directory cannot be read.', { cause: error })
  }
  const files: string[] = []
  for (const name of names.sort()) {
    // Follows links: mounts often are links into a hidden, versioned directory.
    if ((await stat(join(directory, name))).isFile()) files.push(name)
  }
  return files
}

async function readSecretsFile(path: string, name: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new ConfigurationError(`The secrets file ${name} cannot be read.`, { cause: error })
  }
}
