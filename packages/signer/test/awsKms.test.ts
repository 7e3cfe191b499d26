// Goal: a key in AWS KMS signs what a raw key signs, and nothing but its own signature is released.
// Method: the real AWS SDK against a stand-in of KMS on loopback that speaks its protocol and signs for
// real. CAUSEWAY_FAULTS=1 runs the long form.
import { type Hex, hexToBytes } from '@causeway/core'
import { signingDigest } from '@causeway/families/rules'
import { type KmsMode, type KmsStandIn, startKmsStandIn } from '@causeway/localnet'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { keepCollectingGarbage } from '../../core/test/fixtures/collectGarbage.ts'
import {
  allocatorDomain,
  depositExecution,
  hubDomain,
  oracleKey,
  withdrawRequest,
} from '../../core/test/vectors/messages.ts'
import { type AwsKmsOptions, createAwsKmsSigner } from '../src/awsKmsSigner.ts'
import { createConfiguredSigner } from '../src/configuredSigner.ts'
import { recoverSigner } from '../src/recoverSigner.ts'

const isLongForm = process.env['CAUSEWAY_FAULTS'] === '1'
const digestCount = isLongForm ? 10_000 : 100
const longTimeout = { timeout: isLongForm ? 1_800_000 : 120_000 }
const address: Hex = '0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a'
const credentials = { accessKeyId: 'stand-in', secretAccessKey: 'stand-in' }
let kms: KmsStandIn

beforeAll(async () => {
  kms = await startKmsStandIn({ privateKey: hexToBytes(oracleKey) })
})
afterAll(() => kms.stop())
beforeEach(() => kms.set('good'))

function openKey(change: Partial<AwsKmsOptions> = {}) {
  const region = 'eu-central-1'
  return createAwsKmsSigner({ keyId: kms.keyId, region, endpoint: kms.url, credentials, ...change })
}
const order = (index: number) => ({
  purpose: 'order' as const,
  orderId: `0x${index.toString(16).padStart(64, '0')}` as const,
})
const asked = (name: string) => kms.operations.filter((operation) => operation === name).length

test('signs every kind of request in the canonical form, whichever half of s KMS answers with', async () => {
  const signer = await openKey().open()
  expect(signer.address).toBe(address)
  for (const mode of ['good', 'lowS', 'highS'] as const) {
    kms.set(mode)
    for (const request of [
      order(1),
      { purpose: 'message', messageId: depositExecution.idempotencyKey },
      { purpose: 'execution', domain: hubDomain, execution: depositExecution },
      { purpose: 'withdraw-request', domain: allocatorDomain, request: withdrawRequest },
    ] as const) {
      const signature = await signer.sign(request)
      expect(recoverSigner(signingDigest(request), signature)).toBe(address)
    }
  }
})

test('any digest: the signature is canonical and our own', longTimeout, async () => {
  const signer = await openKey().open()
  for (let first = 0; first < digestCount; first += 20) {
    const requests = Array.from({ length: 20 }, (_, index) => order(first + index))
    const signatures = await Promise.all(requests.map((request) => signer.sign(request)))
    for (const [index, request] of requests.entries()) {
      expect(recoverSigner(signingDigest(request), signatures[index] ?? '')).toBe(address)
    }
  }
})

describe('what KMS must not get past us', () => {
  test.each<[KmsMode]>([['wrongKey'], ['trailingByte'], ['noSignature']])(
    '%s: nothing is released',
    async (mode) => {
      const signer = await openKey().open()
      kms.set(mode)
      for (let index = 0; index < 20; index += 1) {
        await expect(signer.sign(order(index))).rejects.toMatchObject({ code: 'SIGNER_FAILED' })
      }
      kms.set('good')
      expect(recoverSigner(signingDigest(order(1)), await signer.sign(order(1)))).toBe(address)
    },
  )

  test('a key of another curve is refused when it is opened', async () => {
    kms.set('otherSpec')
    await expect(openKey().open()).rejects.toMatchObject({ code: 'SIGNER_FAILED' })
  })
})

test('O-104: a key id that the key service does not hold is refused, of another key too', async () => {
  const other = await startKmsStandIn({ privateKey: hexToBytes(`0x${'5b'.repeat(32)}`) })
  try {
    for (const keyId of ['5f1c8a9e-0000-4000-8000-000000000000', other.keyId]) {
      const error = await openKey({ keyId })
        .open()
        .catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: 'SIGNER_FAILED', cause: { name: 'NotFoundException' } })
    }
  } finally {
    await other.stop()
  }
})

describe('trouble on the way', () => {
  test.each<[KmsMode]>([['throttled'], ['failing']])('%s for a moment: tried again', async (mode) => {
    const signer = await openKey().open()
    kms.set(mode, 2)
    expect(recoverSigner(signingDigest(order(1)), await signer.sign(order(1)))).toBe(address)
  })

  test.each<[KmsMode]>([['throttled'], ['failing']])(
    '%s for long: three tries, then refused',
    async (mode) => {
      const signer = await openKey().open()
      const before = asked('Sign')
      kms.set(mode)
      await expect(signer.sign(order(1))).rejects.toMatchObject({ code: 'SIGNER_FAILED', retryable: true })
      expect(asked('Sign') - before).toBe(3)
    },
  )

  test.each([
    ['each attempt', { attemptTimeoutMs: 100, timeoutMs: 600_000 }],
    ['the signature', { attemptTimeoutMs: 600_000, timeoutMs: 300 }],
  ])('silence ends in a refusal within the time of %s', async (_name, limits) => {
    const signer = await openKey(limits).open()
    kms.set('silent')
    keepCollectingGarbage()
    await expect(signer.sign(order(1))).rejects.toMatchObject({ code: 'SIGNER_FAILED' })
  })

  test('a caller that goes away ends the call', async () => {
    const signer = await openKey().open()
    kms.set('silent')
    const caller = new AbortController()
    const signing = signer.sign(order(1), { signal: caller.signal })
    setImmediate(() => caller.abort())
    await expect(signing).rejects.toMatchObject({ code: 'SIGNER_FAILED' })
    await expect(signer.sign(order(1), { signal: AbortSignal.abort() })).rejects.toThrow()
  })
})

describe('the address', () => {
  test('is fetched once, however many ask at once', async () => {
    const key = openKey()
    const before = asked('GetPublicKey')
    const signers = await Promise.all(Array.from({ length: 20 }, () => key.open()))
    expect(new Set(signers).size).toBe(1)
    await key.open()
    expect(asked('GetPublicKey') - before).toBe(1)
  })

  test('is fetched again after it could not be had', async () => {
    const key = openKey()
    kms.set('otherSpec', 1)
    await expect(key.open()).rejects.toMatchObject({ code: 'SIGNER_FAILED' })
    expect((await key.open()).address).toBe(address)
  })
})

describe('SIGNING_MODULE', () => {
  const open = (environment: Record<string, string>, isThreaded = false) => {
    const warnings: string[] = []
    const readFile = () => oracleKey
    const warn = (message: string) => void warnings.push(message)
    return { opened: createConfiguredSigner({ environment, readFile, warn, isThreaded }), warnings }
  }

  test.each([[true], [false]])('raw-private-key signs, on a thread: %s', async (isThreaded) => {
    const { opened, warnings } = open(
      { SIGNING_MODULE: 'raw-private-key', ECDSA_PRIVATE_KEY: oracleKey },
      isThreaded,
    )
    const signer = await opened
    expect(recoverSigner(signingDigest(order(1)), await signer.sign(order(1)))).toBe(address)
    expect(warnings).toHaveLength(1)
    await signer.close()
  })

  test('raw-private-key is the default, with a warning', async () => {
    const { opened, warnings } = open({ ECDSA_PRIVATE_KEY_FILE: '/run/key' })
    expect((await opened).address).toBe(address)
    expect(warnings.join(' ')).toMatch(/SIGNING_MODULE/)
  })

  test('aws-kms opens the key that is named', async () => {
    process.env['AWS_ENDPOINT_URL_KMS'] = kms.url
    process.env['AWS_ACCESS_KEY_ID'] = 'stand-in'
    process.env['AWS_SECRET_ACCESS_KEY'] = 'stand-in'
    const settings = {
      SIGNING_MODULE: 'aws-kms',
      AWS_KMS_SIGNER_KEY_ID: kms.keyId,
      AWS_KMS_SIGNER_KEY_REGION: 'eu-central-1',
    }
    const signer = await open(settings).opened
    expect(recoverSigner(signingDigest(order(1)), await signer.sign(order(1)))).toBe(address)
    await signer.close()
  })

  const managed = { SIGNING_MODULE: 'aws-kms', AWS_KMS_SIGNER_KEY_REGION: 'eu-central-1' }
  const problems: readonly (readonly [string, KmsMode, string | undefined, RegExp])[] = [
    ['nothing listens', 'good', 'http://127.0.0.1:9', /the key service does not answer \(.*ECONNREFUSED/],
    ['nothing is answered', 'silent', undefined, /the key service does not answer \((Timeout|Abort)Error/],
    ['it fails', 'failing', undefined, /the key service refuses \(KMSInternalException: .*told to fail\)\.$/],
    [
      'the key is of another curve',
      'otherSpec',
      undefined,
      /the key is of spec ECC_NIST_P256 for SIGN_VERIFY, and must be of ECC_SECG_P256K1 for SIGN_VERIFY\.$/,
    ],
  ]

  test('O-104: a wrong key id is named by its setting', async () => {
    process.env['AWS_ENDPOINT_URL_KMS'] = kms.url
    const error = await open({ ...managed, AWS_KMS_SIGNER_KEY_ID: 'another' }).opened.catch(String)
    expect(error).toMatch(/^ConfigurationError: AWS_KMS_SIGNER_KEY_ID: .*NotFoundException.*does not exist/)
  })

  test.each(problems)('O-5: where %s the start says so', async (_what, mode, endpoint, message) => {
    process.env['AWS_ENDPOINT_URL_KMS'] = endpoint ?? kms.url
    kms.set(mode)
    const error = await open({ ...managed, AWS_KMS_SIGNER_KEY_ID: kms.keyId }).opened.catch(String)
    expect(error).toMatch(/^ConfigurationError: AWS_KMS_SIGNER_KEY_ID: /)
    expect(error).toMatch(message)
    if (mode !== 'otherSpec') expect(error).not.toMatch(/ECC_|secp256k1/)
  })

  test.each([
    ['an unknown module', { SIGNING_MODULE: 'google-kms' }, /^SIGNING_MODULE/],
    ['no key', {}, /^ECDSA_PRIVATE_KEY/],
    ['no key id', { SIGNING_MODULE: 'aws-kms', AWS_KMS_SIGNER_KEY_REGION: 'x' }, /^AWS_KMS_SIGNER_KEY_ID/],
    ['no region', { SIGNING_MODULE: 'aws-kms', AWS_KMS_SIGNER_KEY_ID: 'x' }, /^AWS_KMS_SIGNER_KEY_REGION/],
  ])('%s stops the start with the name of the setting', async (_what, environment, message) => {
    await expect(open({ ...environment }).opened).rejects.toThrow(message)
  })
})
