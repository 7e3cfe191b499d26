import type { Hex } from '@causeway/core'
import type { FindingCode, Findings, Severity } from '@causeway/core/config'
import { createConfiguredSigner, type SignerSettings } from './configuredSigner.ts'
import { readPrivateKeySetting, readSecretSetting } from './privateKey.ts'

/** File access of a doctor: contents of settings and permission bits of files. */
export type KeyFiles = Pick<SignerSettings, 'environment' | 'readFile'> & {
  /** Permission bits of a file, `undefined` where there is none. */
  readonly modeOf: (path: string) => number | undefined
}

/** Anybody on the machine. */
const othersMayRead = 0o004

/**
 * Opens the key that a service would sign with, and closes it.
 * @param findings takes what is wrong, contradicts or lies open, and the address of a key that can be used
 * @returns its address, `undefined` where it cannot be used
 */
export async function examineSigningKey(
  files: KeyFiles & Pick<SignerSettings, 'prefix'>,
  findings: Findings,
): Promise<Hex | undefined> {
  const { environment, prefix = '' } = files
  const raw = `${prefix}ECDSA_PRIVATE_KEY`
  const managed = `${prefix}AWS_KMS_SIGNER_KEY_ID`
  const isManaged = (environment[`${prefix}SIGNING_MODULE`] ?? '').trim() === 'aws-kms'
  const unused = isManaged ? [raw, `${raw}_FILE`] : [managed, `${prefix}AWS_KMS_SIGNER_KEY_REGION`]
  for (const name of unused.filter((one) => (environment[one] ?? '') !== '')) {
    const taken = isManaged ? managed : raw
    findings.add({
      ...{ code: 'setting-contradicts', severity: 'degrades', setting: name },
      seen: `is set, and ${prefix}SIGNING_MODULE takes ${taken}`,
      fix: `Remove ${name}, or change ${prefix}SIGNING_MODULE.`,
    })
  }
  if (!isManaged) sayWhoReads(`${raw}_FILE`, files, findings)
  const signer = await findings.attemptLater(
    () => createConfiguredSigner({ ...files, prefix, warn: () => undefined, isThreaded: false }),
    'key-wrong',
  )
  if (signer === undefined) return undefined
  await signer.close()
  say(findings, 'key-read', 'note', isManaged ? managed : raw, `signs as ${signer.address}`, 'Nothing to do.')
  return signer.address
}

/** A key beside the signing one. @returns true where it is set and can be used */
export function examineKeySetting(name: string, files: KeyFiles, findings: Findings): boolean {
  sayWhoReads(`${name}_FILE`, files, findings)
  return findings.attempt(() => readPrivateKeySetting({ ...files, name }), 'key-wrong') !== undefined
}

/** Examines a secret that has a form of its own. */
export function examineSecretSetting(name: string, files: KeyFiles, findings: Findings): boolean {
  sayWhoReads(`${name}_FILE`, files, findings)
  return findings.attempt(() => readSecretSetting({ ...files, name }), 'key-wrong') !== undefined
}

function sayWhoReads(setting: string, { environment, modeOf }: KeyFiles, findings: Findings): void {
  const mode = modeOf(environment[setting] ?? '')
  if (mode === undefined || (mode & othersMayRead) === 0) return
  const observation = `every account of this machine may read the file (mode ${(mode & 0o777).toString(8)})`
  say(
    findings,
    'key-exposed',
    'degrades',
    setting,
    observation,
    'chmod 400 the file, owned by the user that runs the service.',
  )
}

function say(
  findings: Findings,
  code: FindingCode,
  severity: Severity,
  ...[setting, seen, fix]: readonly [string, string, string]
): void {
  findings.add({ code, severity, setting, seen, fix })
}
