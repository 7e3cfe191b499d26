import { ConfigurationError, type Hex } from '@causeway/core'

/**
 * Prefix of the variables of the hub key, with which quote-api or a solver pays the gas of its entries on the hub. The
 * key has no rights there.
 */
export const hubKeyPrefix = 'HUB_'

const hubKeyVariables = [
  'HUB_SIGNING_MODULE',
  'HUB_ECDSA_PRIVATE_KEY',
  'HUB_ECDSA_PRIVATE_KEY_FILE',
  'HUB_AWS_KMS_SIGNER_KEY_ID',
  'HUB_AWS_KMS_SIGNER_KEY_REGION',
]

/** True where any variable of the hub key is set: the service then has such a key. */
export const hasHubKey = (source: Readonly<Record<string, string | undefined>>): boolean =>
  hubKeyVariables.some((name) => (source[name] ?? '').trim() !== '')

/** @throws ConfigurationError where the hub key is one of the service's other keys, which have rights on the hub */
export function checkHubKey(hubKey: Hex | undefined, others: readonly (string | undefined)[]): void {
  if (hubKey !== undefined && others.includes(hubKey))
    throw new ConfigurationError(
      'HUB_ECDSA_PRIVATE_KEY, which pays for entries on the hub, must be a key of its own: another key of this service has rights there.',
    )
}
