import type { Hex } from '@causeway/core'
import type { Findings } from '@causeway/core/config'
import { createConfiguredSigner, type SignerSettings } from './configuredSigner.ts'
import { readPrivateKeySetting, readSecretSetting } from './privateKey.ts'

/** The variables and files from which doctor examines keys. */
export type KeyFiles = Pick<SignerSettings, 'environment' | 'readFile'> & {
  /** Permission bits of a file, `undefined` where there is none. */
  readonly modeOf: (path: string) => number | undefined
}

/** Permission bit by which every account of the machine may read a file. */
const othersMayRead = 0o004

/**
 * Opens and closes the key that a service would sign with, for doctor.
 * @param findings gets wrong, contradicting and exposed settings, and a note with the address of a usable key
 * @returns the key's address, `undefined` where it cannot be used
 */
export async function examineSigningKey(
  files: KeyFiles & Pick<SignerSettings, 'prefix'>,
  findings: Findings,
): Promise<Hex | undefined> {
  const { environment, prefix = '' } = files
  const rawKey = `${prefix}ECDSA_PRIVATE_KEY`
  const kmsKey = `${prefix}AWS_KMS_SIGNER_KEY_ID`
  const usesKms = (environment[`${prefix}SIGNING_MODULE`] ?? '').trim() === 'aws-kms'
  const usedKey = usesKms ? kmsKey : rawKey
  const unused = usesKms ? [rawKey, `${rawKey}_FILE`] : [kmsKey, `${prefix}AWS_KMS_SIGNER_KEY_REGION`]
  for (const name of unused.filter((one) => (environment[one] ?? '') !== '')) {
    findings.add({
      code: 'setting-contradicts',
      severity: 'degrades',
      setting: name,
      seen: `is set, and ${prefix}SIGNING_MODULE takes ${usedKey}`,
      fix: `Remove ${name}, or change ${prefix}SIGNING_MODULE.`,
    })
  }
  if (!usesKms) findExposedFile(`${rawKey}_FILE`, files, findings)
  const signer = await findings.attemptLater(
    () => createConfiguredSigner({ ...files, prefix, warn: () => undefined, isThreaded: false }),
    'key-wrong',
  )
  if (signer === undefined) return undefined
  await signer.close()
  const seen = `signs as ${signer.address}`
  findings.add({ code: 'key-read', severity: 'note', setting: usedKey, seen, fix: 'Nothing to do.' })
  return signer.address
}

/** Examines a private key beside the signing one. @returns true where it is set and can be used */
export function examineKeySetting(name: string, files: KeyFiles, findings: Findings): boolean {
  findExposedFile(`${name}_FILE`, files, findings)
  return findings.attempt(() => readPrivateKeySetting({ ...files, name }), 'key-wrong') !== undefined
}

/** Examines a secret that is no private key. @returns true where it is set and can be read */
export function examineSecretSetting(name: string, files: KeyFiles, findings: Findings): boolean {
  findExposedFile(`${name}_FILE`, files, findings)
  return findings.attempt(() => readSecretSetting({ ...files, name }), 'key-wrong') !== undefined
}

function findExposedFile(setting: string, { environment, modeOf }: KeyFiles, findings: Findings): void {
  const mode = modeOf(environment[setting] ?? '')
  if (mode === undefined || (mode & othersMayRead) === 0) return
  const seen = `every account of this machine may read the file (mode ${(mode & 0o777).toString(8)})`
  const fix = 'chmod 400 the file, owned by the user that runs the service.'
  findings.add({ code: 'key-exposed', severity: 'degrades', setting, seen, fix })
}
