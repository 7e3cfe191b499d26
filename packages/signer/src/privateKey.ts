import { ConfigurationError, hexToBytes, isAnyCaseHex32, Secret } from '@causeway/core'
import secp256k1 from 'secp256k1'

/**
 * Checks a private key as it is written in a setting: `0x` and 64 hex digits, between 1 and the
 * order of the curve. Surrounding white space is ignored: files end in a newline.
 * @throws ConfigurationError naming the setting, never the value
 */
export function parsePrivateKey(text: string, setting: string): Secret {
  const trimmed = text.trim()
  if (!isAnyCaseHex32(trimmed)) throw new ConfigurationError(`${setting} must be 0x and 64 hex digits.`)
  const secret = new Secret(trimmed)
  if (!secp256k1.privateKeyVerify(privateKeyBytes(secret))) {
    throw new ConfigurationError(`${setting} is not a valid private key: zero or beyond the curve's order.`)
  }
  return secret
}

/** Where a secret setting is read from: the variable `name`, or the file that `<name>_FILE` names. */
type SecretSource = {
  environment: Readonly<Record<string, string | undefined>>
  /** E.g. `ECDSA_PRIVATE_KEY`. */
  name: string
  readFile: (path: string) => string
}

/**
 * Reads and checks a private key; `undefined` when neither variable is set.
 * @throws ConfigurationError when both are set, the file cannot be read, or the key is not valid
 */
export function readPrivateKeySetting(options: SecretSource): Secret | undefined {
  const setting = readSetting(options)
  return setting && parsePrivateKey(setting.text, setting.name)
}

/**
 * Reads a secret that is no private key, without the white space around it; `undefined` when neither variable is set.
 * @throws ConfigurationError when both are set, or the file cannot be read
 */
export function readSecretSetting(options: SecretSource): Secret | undefined {
  const setting = readSetting(options)
  return setting && new Secret(setting.text.trim())
}

function readSetting({
  environment,
  name,
  readFile,
}: SecretSource): { readonly text: string; readonly name: string } | undefined {
  const fileSetting = `${name}_FILE`
  // An empty variable counts as unset.
  const value = environment[name] || undefined
  const path = environment[fileSetting] || undefined
  if (value !== undefined && path !== undefined) {
    throw new ConfigurationError(`Set ${name} or ${fileSetting}, not both.`)
  }
  if (value !== undefined) return { text: value, name }
  return path === undefined
    ? undefined
    : { text: readKeyFile(readFile, path, fileSetting), name: fileSetting }
}

function readKeyFile(readFile: (path: string) => string, path: string, setting: string): string {
  try {
    return readFile(path)
  } catch (cause) {
    throw new ConfigurationError(`The file that ${setting} names cannot be read.`, { cause })
  }
}

/** The 32 bytes of a key from `parsePrivateKey`. */
export function privateKeyBytes(privateKey: Secret): Uint8Array {
  // CAST: checked against the form when the secret was made; hexToBytes throws otherwise.
  return hexToBytes(privateKey.reveal() as `0x${string}`)
}
