import { ConfigurationError, type Signer } from '@causeway/core'
import { shownText } from '@causeway/core/config'
import { createAwsKmsSigner, openingProblem } from './awsKmsSigner.ts'
import { SignerFailedError } from './errors.ts'
import { readPrivateKeySetting } from './privateKey.ts'
import { createRawKeySigner } from './rawKeySigner.ts'
import { createThreadedSigner } from './threadedSigner.ts'

export type ConfiguredSigner = Signer & {
  /** Ends threads and connections; later requests fail. */
  close(): Promise<void>
}

export type SignerSettings = {
  /** Has `SIGNING_MODULE`, `ECDSA_PRIVATE_KEY` (or `…_FILE`), `AWS_KMS_SIGNER_KEY_ID`, `AWS_KMS_SIGNER_KEY_REGION`. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly readFile: (path: string) => string
  /** Sentences for the log at start; they hold no key. */
  readonly warn: (message: string) => void
  /** Prefix of the variables' names, so that no other service reads them by mistake, e.g. `ALLOCATOR_`. Default: none. */
  readonly prefix?: string
  /** True to sign on a thread of its own with a raw key: for services that sign every answer. */
  readonly isThreaded: boolean
}

/**
 * The signer that a service's environment selects: `SIGNING_MODULE=raw-private-key` (default) or
 * `aws-kms`. Its address is known when this returns.
 * @throws ConfigurationError naming the setting that must not run
 * @source rule O-cfg-01
 */
export async function createConfiguredSigner(settings: SignerSettings): Promise<ConfiguredSigner> {
  const { environment, warn, prefix = '' } = settings
  const moduleName = (environment[`${prefix}SIGNING_MODULE`] ?? '').trim()
  if (moduleName === '') warn(`${prefix}SIGNING_MODULE is not set: raw-private-key is taken.`)
  switch (moduleName) {
    case '':
    case 'raw-private-key':
      return createRawSigner(settings)
    case 'aws-kms':
      return openKmsSigner(environment, prefix)
    default:
      throw new ConfigurationError(
        `${prefix}SIGNING_MODULE is ${shownText(moduleName)} and must be raw-private-key or aws-kms.`,
      )
  }
}

function createRawSigner(settings: SignerSettings): ConfiguredSigner {
  const { environment, readFile, warn, isThreaded, prefix = '' } = settings
  const name = `${prefix}ECDSA_PRIVATE_KEY`
  const privateKey = readPrivateKeySetting({ environment, name, readFile })
  if (privateKey === undefined) {
    const kmsVariables = ['AWS_KMS_SIGNER_KEY_ID', 'AWS_KMS_SIGNER_KEY_REGION'].map(
      (one) => `${prefix}${one}`,
    )
    const ignored = kmsVariables.find((one) => (environment[one] ?? '') !== '')
    const hint = ignored === undefined ? '' : ` ${ignored} needs ${prefix}SIGNING_MODULE=aws-kms.`
    throw new ConfigurationError(
      `${name} or ${prefix}ECDSA_PRIVATE_KEY_FILE is required: it signs answers.${hint}`,
    )
  }
  warn('The signing key is in the memory of this process; a key management service keeps it elsewhere.')
  if (isThreaded) return createThreadedSigner({ privateKey })
  return { ...createRawKeySigner({ privateKey }), close: async () => undefined }
}

async function openKmsSigner(
  environment: SignerSettings['environment'],
  prefix: string,
): Promise<ConfiguredSigner> {
  const keyId = required(environment, prefix, 'AWS_KMS_SIGNER_KEY_ID')
  const region = required(environment, prefix, 'AWS_KMS_SIGNER_KEY_REGION')
  const key = createAwsKmsSigner({ keyId, region })
  try {
    const { address, sign } = await key.open()
    return { address, sign, close: async () => key.close() }
  } catch (cause) {
    key.close()
    if (!(cause instanceof SignerFailedError)) throw cause
    throw new ConfigurationError(`${prefix}AWS_KMS_SIGNER_KEY_ID: ${openingProblem(cause)}.`, { cause })
  }
}

function required(environment: SignerSettings['environment'], prefix: string, member: string): string {
  const name = `${prefix}${member}`
  const value = (environment[name] ?? '').trim()
  if (value === '') throw new ConfigurationError(`${name} is required with ${prefix}SIGNING_MODULE=aws-kms.`)
  return value
}
