import { createPublicKey } from 'node:crypto'
import type { GetPublicKeyCommandOutput, KMSClient, KMSClientConfig } from '@aws-sdk/client-kms'
import { type Hex, type Signer, startDeadline } from '@causeway/core'
import { signingDigest } from '@causeway/families/rules'
import { SignerFailedError } from './errors.ts'
import { finishSignature } from './finishSignature.ts'
import { addressOf, recoverPublicKey } from './recoverSigner.ts'

export type AwsKmsOptions = {
  /** Id, alias or ARN of a key of spec `ECC_SECG_P256K1`. */
  readonly keyId: string
  readonly region: string
  /** Default: the one of AWS, or what the SDK reads from `AWS_ENDPOINT_URL_KMS`. */
  readonly endpoint?: string
  /** Default: the SDK's chain of providers. */
  readonly credentials?: NonNullable<KMSClientConfig['credentials']>
  /** Timeout of one attempt; a throttled or failed one is repeated, three attempts in all. */
  readonly attemptTimeoutMs?: number
  /** Timeout of a signature, or of reading the public key, with all attempts. */
  readonly timeoutMs?: number
}

/** A key in AWS KMS, before its public half is known. */
export interface AwsKmsKey {
  /**
   * The signer, with the address of the key. The public key is fetched once, however many calls there are, and again
   * after a failure. @throws SignerFailedError when the key cannot be read or is no secp256k1 signing key
   */
  open(): Promise<Signer>
  close(): void
}

const defaults = { attemptTimeoutMs: 2_000, timeoutMs: 5_000 }
const connectionTimeoutMs = 1_000
const triesMax = 3
const publicKeyBytes = 65
/** First byte of an uncompressed point. @source SEC 1, 2.3.3 */
const uncompressedPoint = 4

/**
 * Signs with a key that never leaves AWS KMS. Only the digest of a structured request is sent. The returned signature
 * is parsed strictly, brought to low s, and must recover to the key, so that a wrong key or a corrupted answer ends in
 * SignerFailedError.
 */
export function createAwsKmsSigner(options: AwsKmsOptions): AwsKmsKey {
  const { keyId: KeyId, timeoutMs = defaults.timeoutMs } = options
  let opened: Promise<Signer> | undefined
  let client: KMSClient | undefined

  async function open(): Promise<Signer> {
    // Loaded late: the SDK takes a tenth of a second to load, and the curve's library as long.
    const library = await import('./awsKmsLibrary.ts')
    client ??= new library.KMSClient(clientConfig(options))
    const kms = client
    const described = await guarded(timeoutMs, undefined, (abortSignal) =>
      kms.send(new library.GetPublicKeyCommand({ KeyId }), { abortSignal }),
    )
    const publicKey = parsePublicKey(described)
    return {
      address: addressOf(publicKey),
      async sign(request, { signal } = {}) {
        signal?.throwIfAborted()
        const digest = signingDigest(request)
        const { Signature: der } = await guarded(timeoutMs, signal, (abortSignal) =>
          kms.send(
            new library.SignCommand({
              KeyId,
              Message: digest,
              // KMS signs a digest as it is: the algorithm's name only tells that it has 32 bytes.
              MessageType: 'DIGEST',
              SigningAlgorithm: 'ECDSA_SHA_256',
            }),
            { abortSignal },
          ),
        )
        if (der === undefined) throw new SignerFailedError()
        return recoverable(digest, library.compactFromDer(der), publicKey)
      },
    }
  }

  return {
    open() {
      opened ??= open().catch((error: unknown) => {
        opened = undefined
        throw error
      })
      return opened
    },
    close() {
      client?.destroy()
    },
  }
}

function clientConfig(options: AwsKmsOptions): KMSClientConfig {
  const { region, endpoint, credentials, attemptTimeoutMs = defaults.attemptTimeoutMs } = options
  return {
    region,
    maxAttempts: triesMax,
    retryMode: 'standard',
    requestHandler: {
      requestTimeout: attemptTimeoutMs,
      throwOnRequestTimeout: true,
      connectionTimeout: Math.min(connectionTimeoutMs, attemptTimeoutMs),
    },
    ...(endpoint !== undefined && { endpoint }),
    ...(credentials !== undefined && { credentials }),
  }
}

/** Makes one call within a time limit. @throws SignerFailedError for any failure, which is its cause */
async function guarded<Answer>(
  timeoutMs: number,
  caller: AbortSignal = new AbortController().signal,
  call: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const deadline = startDeadline(caller, timeoutMs)
  try {
    return await call(deadline.signal)
  } catch (cause) {
    throw new SignerFailedError({ cause })
  } finally {
    deadline.release()
  }
}

class WrongKeyError extends Error {
  constructor(spec: string | undefined, usage: string | undefined) {
    super(`the key is of spec ${spec} for ${usage}, and must be of ECC_SECG_P256K1 for SIGN_VERIFY`)
  }
}

/** Why a key cannot be opened, for its operator: the key service's own words, which hold no secret. */
export function openingProblem({ cause }: SignerFailedError): string {
  if (cause instanceof WrongKeyError) return cause.message
  if (!(cause instanceof Error)) return 'the key service gave no usable answer'
  const code = 'code' in cause ? String(cause.code) : cause.name
  const words = [code, cause.message].filter((part) => part !== '').join(': ')
  if (cause.name === 'CredentialsProviderError') return `the key service cannot be asked (${words})`
  return `the key service ${hasStatus(cause) ? 'refuses' : 'does not answer'} (${words})`
}

/** True for an error of the SDK that carries the HTTP status of an answer. */
function hasStatus(cause: Error): boolean {
  const metadata: unknown = '$metadata' in cause ? cause.$metadata : undefined
  return typeof metadata === 'object' && metadata !== null && 'httpStatusCode' in metadata
}

/** The uncompressed point of a DER public key. @throws SignerFailedError for any other kind of key */
function parsePublicKey({ PublicKey: der, KeySpec, KeyUsage }: GetPublicKeyCommandOutput): Uint8Array {
  if (der === undefined || KeySpec !== 'ECC_SECG_P256K1' || KeyUsage !== 'SIGN_VERIFY')
    throw new SignerFailedError({ cause: new WrongKeyError(KeySpec, KeyUsage) })
  try {
    const { x, y } = createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' }).export({
      format: 'jwk',
    })
    const point = Buffer.concat([Buffer.of(uncompressedPoint), coordinate(x), coordinate(y)])
    if (point.length !== publicKeyBytes) throw new RangeError('not a point of 64 bytes')
    return point
  } catch (cause) {
    throw new SignerFailedError({ cause })
  }
}

function coordinate(text: string | undefined): Buffer {
  return Buffer.from(text ?? '', 'base64url')
}

/** The signature with its recovery id, which KMS does not tell: the id that recovers our key. */
function recoverable(digest: Uint8Array, compact: Uint8Array, publicKey: Uint8Array): Hex {
  const recoveryId = [0, 1].find((id) => {
    const recovered = recoverPublicKey(digest, compact, id)
    return recovered !== undefined && Buffer.compare(recovered, publicKey) === 0
  })
  if (recoveryId === undefined) throw new SignerFailedError()
  return finishSignature({ digest, compact, recoveryId, publicKey })
}
