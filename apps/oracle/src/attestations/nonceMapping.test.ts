// Attestations of a wallet's nonce mapping, rule F-153. A forged mapping would count another user's deposit
// for the attacker's own order.
import { bytesToHex, type Hex, type NonceMapping, nonceMappingDigest } from '@causeway/core'
import { sign } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { oracleKey } from '../../../../packages/core/test/vectors/messages.ts'
import { orderBId, orderBSolverKey, repeated } from '../../../../packages/core/test/vectors/orders.ts'
import { world } from '../../test/fixtures/world.ts'
import { nonceMappingRequestSchema } from '../wire/requests.ts'
import { attestNonceMapping } from './nonceMapping.ts'

const options = { signal: new AbortController().signal }
const mappingB: NonceMapping = {
  walletChainId: 'hyperliquid',
  wallet: '0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a',
  id: orderBId,
  nonce: 1_761_563_890_702n,
  depositor: repeated('22', 20),
}

type Signing = {
  readonly key?: Hex
  readonly number?: number
  readonly signatureChainId?: string
  readonly over?: Partial<NonceMapping>
}

/** A request, signed over itself unless something else is said. */
async function request(change: Partial<NonceMapping> = {}, signing: Signing = {}) {
  const mapping = { ...mappingB, ...change }
  const { key = oracleKey, number = 8453, signatureChainId = 'base', over = {} } = signing
  const hash = bytesToHex(nonceMappingDigest({ ...mapping, ...over }, number))
  const signature = await sign({ hash, privateKey: key, to: 'hex' })
  const nonce = mapping.nonce.toString()
  return nonceMappingRequestSchema.parse({ ...mapping, nonce, signatureChainId, signature })
}

const attest = (body: Awaited<ReturnType<typeof request>>, context = world({})) =>
  attestNonceMapping(body, context, options)

test('F-153: becomes the published entry of the wallet', async () => {
  const { unsigned } = await attest(await request())
  expect(unsigned.genericMapping).toEqual({
    user: '0x3cb94b0d5214c41de8e3b674d73ab430a039a5d4',
    id: '0x44ec8783eee06c285b5fb4d7d8f3c2e92e60213d81f4be35610a86532b71d222',
    data: `${orderBId}${'22'.repeat(20)}`,
    nonce: '0x53f6c4e6be01df994f4116823da7e3d79216e0ea94db7414284a7a98c8290bd7',
    signatures: [],
  })
})

test('rests on no reading of a chain, and is not kept', async () => {
  expect(await attest(await request())).toMatchObject({ evidence: [], isFinal: false })
})

test('signed on another EVM chain is the same entry', async () => {
  const onEthereum = await request({}, { number: 1, signatureChainId: 'ethereum' })
  expect((await attest(onEthereum)).unsigned).toEqual((await attest(await request())).unsigned)
})

describe('is refused', () => {
  test.each<[string, Partial<NonceMapping>, Signing]>([
    ['when somebody else signed it', {}, { key: orderBSolverKey }],
    ['when its wallet signed for another order', {}, { over: { id: repeated('33', 32) } }],
    ['when its wallet signed for another nonce', {}, { over: { nonce: 1n } }],
    ['when its wallet signed for another depositor', {}, { over: { depositor: repeated('44', 20) } }],
    ['when its wallet signed for another chain', {}, { over: { walletChainId: 'other' } }],
    ['when its wallet signed with another number', {}, { number: 1 }],
    ['when a stranger signed it as somebody else', { wallet: repeated('11', 20) }, {}],
  ])('%s', async (_why, change, signing) => {
    await expect(attest(await request(change, signing))).rejects.toMatchObject({
      code: 'INVALID_WALLET_SIGNATURE',
    })
  })

  test.each([
    ['base', 'base', 'WALLET_CHAIN_NOT_SUPPORTED', { walletChainId: 'base' }],
    ['unheard', 'base', 'UNKNOWN_CHAIN', {}],
    ['hyperliquid', 'solana', 'SIGNATURE_CHAIN_NOT_SUPPORTED', { signatureChainId: 'solana' }],
    ['hyperliquid', 'unheard', 'UNKNOWN_CHAIN', {}],
  ])('of a transfer on %s, signed on %s', async (walletChainId, signatureChainId, code, data) => {
    const body = await request({ walletChainId }, { signatureChainId })
    await expect(attest(body)).rejects.toMatchObject({ code, data })
  })

  test('where the hub file names no mapping', async () => {
    const { mappingDomain: _mapping, ...hub } = world({}).hub
    await expect(attest(await request(), { ...world({}), hub })).rejects.toMatchObject({
      code: 'GENERIC_MAPPING_NOT_CONFIGURED',
    })
  })
})
