import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import { parseSecretsFile } from './parseSecretsFile.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Directory where an agent mounts secrets; `SECRETS_DIR` overrides it. @source rule O-140 */
export const defaultSecretsDirectory = '/vault/secrets'

/**
 * Completes the environment by the variables of all regular files in `directory`. A variable of the environment wins over
 * the files. Blank values count as not set, in both, so that an `API_KEYS=` left by a template does not hide the secret.
 * A missing directory means no secrets. The start is refused for an unreadable or malformed file, and if two files
 * disagree about a variable.
 * @param options.directory default: `SECRETS_DIR`, else `/vault/secrets`
 * @throws ConfigurationError naming the file, never its content
 */
export async function loadSecrets(options: {
  environment: Environment
  directory?: string
}): Promise<Environment> {
  const { environment } = options
  const secrets = await readSecrets(options)
  const set = Object.entries(environment).filter(([, value]) => value !== undefined && !isBlank(value))
  return Object.fromEntries([...secrets, ...set])
}

/** Variables of the secrets files alone. @throws ConfigurationError naming the file, never its content */
export async function readSecrets(options: {
  environment: Environment
  directory?: string
}): Promise<ReadonlyMap<string, string>> {
  const secretsDirectory = options.environment['SECRETS_DIR']
  const {
    directory = secretsDirectory === undefined || isBlank(secretsDirectory)
      ? defaultSecretsDirectory
      : secretsDirectory,
  } = options
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
  return secrets
}

/** Settings that hold the allocator's keys. Each setting of a key also exists with `_FILE` at its end. */
const allocatorKeys = [
  'ALLOCATOR_ECDSA_PRIVATE_KEY',
  'ALLOCATOR_ED25519_PRIVATE_KEY',
  'ALLOCATOR_AWS_KMS_SIGNER_KEY_ID',
] as const
/** No service may have the key of custody. */
const custodyKeys = ['CUSTODY_PRIVATE_KEY'] as const
/** Settings that hold keys of quote-api, solver and oracle. */
const otherKeys = [
  'ECDSA_PRIVATE_KEY',
  'ED25519_PRIVATE_KEY',
  'BITCOIN_PRIVATE_KEY',
  'TRON_PRIVATE_KEY',
  'LIGHTER_PRIVATE_KEY',
  'LIGHTER_API_KEY',
  'HYPERLIQUID_PRIVATE_KEY',
  'HUB_ECDSA_PRIVATE_KEY',
  'HUB_AWS_KMS_SIGNER_KEY_ID',
  'AWS_KMS_SIGNER_KEY_ID',
  'FILL_WALLET_PRIVATE_KEY',
  'ADMIN_API_KEY',
  'API_KEY_PEPPERS',
  'SOLVER_API_KEY',
] as const

/**
 * Finds keys in the environment of a service that must not have them. The allocator's key pays from every depository. So
 * only the allocator may have it, and the allocator may have no other service's key: then an attacker who takes over one
 * process does not get both. No service may have custody's key.
 * @returns a sentence for each, which names the variable and never its value
 */
export function findForeignKeys(service: 'allocator' | 'other', environment: Environment): readonly string[] {
  const foreign = [
    ...(service === 'allocator' ? otherKeys : allocatorKeys).map((name) => ({
      name,
      whose: 'another service’s',
    })),
    ...custodyKeys.map((name) => ({ name, whose: 'no service’s' })),
  ]
  return foreign.flatMap(({ name: key, whose }) =>
    [key, `${key}_FILE`]
      .filter((name) => !isBlank(environment[name] ?? ''))
      .map((name) => `${name} is ${whose} setting, and must not stand here. Remove it.`),
  )
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
    // `stat` follows links: Kubernetes mounts secrets as links into a hidden, versioned directory.
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
