import { createECDH, createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { bytesToHex } from '@causeway/core'
import { sign } from 'viem/accounts'
import { z } from 'zod'

/**
 * Behaviour of the stand-in. `good` signs; `highS` and `lowS` also choose the half of s, of which KMS may use either.
 * `throttled` and `failing` are errors of KMS; `silent` never answers; `wrongKey` signs with another key; `trailingByte`
 * adds a byte to the signature; `noSignature` leaves it out; `otherSpec` names another curve for the public key.
 */
export type KmsMode =
  | 'good'
  | 'highS'
  | 'lowS'
  | 'throttled'
  | 'failing'
  | 'silent'
  | 'wrongKey'
  | 'trailingByte'
  | 'noSignature'
  | 'otherSpec'

export type KmsStandIn = {
  readonly url: string
  readonly keyId: string
  /** Operations that arrived, by name, in order. */
  readonly operations: readonly string[]
  /** Sets the mode for so many operations, then it is `good` again; without a number for ever. */
  set(mode: KmsMode, operations?: number): void
  stop(): Promise<void>
}

const keyRequest = z.object({ KeyId: z.string() })
const signRequest = z.object({
  Message: z.string(),
  MessageType: z.literal('DIGEST'),
  SigningAlgorithm: z.literal('ECDSA_SHA_256'),
})

/**
 * A **stand-in** for AWS KMS on loopback: it speaks the JSON protocol of `GetPublicKey` and `Sign` for
 * one secp256k1 key and signs for real, in DER, with whatever half of s comes out. Any other key id is
 * refused as KMS refuses it, so that a wrong one is seen before production. It checks no credentials and
 * keeps the key in this process: for development and tests alone.
 * @param options.privateKey 32 bytes
 */
export async function startKmsStandIn(options: { readonly privateKey: Uint8Array }): Promise<KmsStandIn> {
  const keys = { right: keyOf(options.privateKey), wrong: keyOf(sha256(options.privateKey)) }
  const keyId = idOf(options.privateKey)
  const operations: string[] = []
  let mode: KmsMode = 'good'
  let operationsLeft = Number.POSITIVE_INFINITY

  function takeMode(): KmsMode {
    if (operationsLeft <= 0) return 'good'
    operationsLeft -= 1
    return mode
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body: unknown = JSON.parse(await textOf(request))
    const operation = String(request.headers['x-amz-target']).replace('TrentService.', '')
    operations.push(operation)
    const current = takeMode()
    if (current === 'silent') return
    if (current === 'throttled') return fail(response, 400, 'ThrottlingException')
    if (current === 'failing') return fail(response, 500, 'KMSInternalException')
    if (operation !== 'GetPublicKey' && operation !== 'Sign')
      return fail(response, 400, 'UnsupportedOperationException')
    const { KeyId } = keyRequest.parse(body)
    if (KeyId !== keyId) return fail(response, 400, 'NotFoundException', `Key '${KeyId}' does not exist`)
    const answerBody =
      operation === 'Sign' ? await signAnswer(body, keys, current) : publicKeyAnswer(keys.right, current)
    return send(response, 200, { KeyId, ...answerBody })
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => fail(response, 400, 'ValidationException'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // CAST: a server that listens on TCP has an address of this kind.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    keyId,
    operations,
    set(next, count = Number.POSITIVE_INFINITY) {
      mode = next
      operationsLeft = count
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The id follows from the key, so that a test can give a service the id of another stand-in's key. */
function idOf(privateKey: Uint8Array): string {
  return `5f1c8a9e-0000-4000-8000-${createHash('sha256').update('id').update(privateKey).digest('hex').slice(0, 12)}`
}

type Key = { readonly bytes: Uint8Array; readonly publicKeyDer: Buffer }

/** Header of a DER public key on secp256k1, up to the point. */
const spkiHeader = Buffer.from('3056301006072a8648ce3d020106052b8104000a034200', 'hex')

function keyOf(bytes: Uint8Array): Key {
  const curve = createECDH('secp256k1')
  curve.setPrivateKey(bytes)
  return { bytes, publicKeyDer: Buffer.concat([spkiHeader, curve.getPublicKey()]) }
}

function publicKeyAnswer({ publicKeyDer }: Key, mode: KmsMode): object {
  return {
    PublicKey: publicKeyDer.toString('base64'),
    KeySpec: mode === 'otherSpec' ? 'ECC_NIST_P256' : 'ECC_SECG_P256K1',
    KeyUsage: 'SIGN_VERIFY',
    SigningAlgorithms: ['ECDSA_SHA_256'],
  }
}

async function signAnswer(body: unknown, keys: { right: Key; wrong: Key }, mode: KmsMode): Promise<object> {
  const { Message } = signRequest.parse(body)
  const digest = Buffer.from(Message, 'base64')
  if (digest.length !== 32) throw new Error('a digest has 32 bytes')
  if (mode === 'noSignature') return { SigningAlgorithm: 'ECDSA_SHA_256' }
  const { bytes } = mode === 'wrongKey' ? keys.wrong : keys.right
  const half = mode === 'highS' ? 'high' : mode === 'lowS' ? 'low' : 'either'
  const der = await signDigest({ digest, privateKey: bytes, half })
  const sent = mode === 'trailingByte' ? Buffer.concat([der, Buffer.of(0)]) : der
  return { Signature: sent.toString('base64'), SigningAlgorithm: 'ECDSA_SHA_256' }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body))
}

function fail(
  response: ServerResponse,
  status: number,
  name: string,
  message = 'the stand-in was told to fail',
): void {
  send(response, status, { __type: name, message })
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString()
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest()
}

const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/**
 * A real ECDSA signature of 32 bytes in DER. KMS answers with either half of s; `either` takes the one
 * that the digest's last bit names, so that both occur and a test can repeat them.
 */
async function signDigest(options: {
  digest: Uint8Array
  privateKey: Uint8Array
  half: 'low' | 'high' | 'either'
}): Promise<Buffer> {
  const { digest, privateKey, half } = options
  const { r, s } = await sign({
    hash: bytesToHex(digest),
    privateKey: bytesToHex(privateKey),
    to: 'object',
  })
  const isHigh = half === 'high' || (half === 'either' && (digest.at(-1) ?? 0) % 2 === 1)
  const lowS = BigInt(s)
  const parts = Buffer.concat([derInteger(BigInt(r)), derInteger(isHigh ? curveOrder - lowS : lowS)])
  return Buffer.concat([Buffer.of(0x30, parts.length), parts])
}

/** An integer in DER: as few bytes as possible, with a zero byte in front where the first bit is set. */
function derInteger(value: bigint): Buffer {
  const digits = value.toString(16)
  const bytes = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
  const content = (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes
  return Buffer.concat([Buffer.of(0x02, content.length), content])
}
