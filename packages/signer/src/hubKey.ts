import { ConfigurationError, type Hex } from '@causeway/core'

/** Prefix of the variables of the key that pays for entries on the hub. */
export const hubKeyPrefix = 'HUB_'

const hubKeyVariables = [
  'HUB_SIGNING_MODULE',
  'HUB_ECDSA_PRIVATE_KEY',
  'HUB_ECDSA_PRIVATE_KEY_FILE',
  'HUB_AWS_KMS_SIGNER_KEY_ID',
  'HUB_AWS_KMS_SIGNER_KEY_REGION',
]

/** A service has it or has not: any of its variables selects it. */
export const hasHubKey = (source: Readonly<Record<string, string | undefined>>): boolean =>
  hubKeyVariables.some((name) => (source[name] ?? '').trim() !== '')

/** @throws ConfigurationError where the key that pays for entries has rights of its own */
export function checkHubKey(hubKey: Hex | undefined, others: readonly (string | undefined)[]): void {
  if (hubKey !== undefined && others.includes(hubKey))
    throw new ConfigurationError(
      'HUB_ECDSA_PRIVATE_KEY, which pays for entries on the hub, must be a key of its own: another key of this service has rights there.',
    )
}
