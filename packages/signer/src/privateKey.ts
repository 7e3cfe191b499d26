import { ConfigurationError, hexToBytes, Secret } from '@causeway/core'
import secp256k1 from 'secp256k1'

/**
 * A usable secp256k1 key from `0x` and 64 hex digits, the `0x` optional; white space around it is
 * what files end with. @throws ConfigurationError that names the rule and never the value
 */
export function parsePrivateKey(secret: Secret): Secret {
  const digits = secret.reveal().trim().replace(/^0x/, '')
  if (!/^[0-9a-fA-F]{64}$/.test(digits)) {
    throw new ConfigurationError('The private key must be 0x and 64 hex digits.')
  }
  if (!secp256k1.privateKeyVerify(hexToBytes(`0x${digits}`))) {
    throw new ConfigurationError('The private key is not in the range of the curve.')
  }
  return new Secret(`0x${digits.toLowerCase()}`)
}
