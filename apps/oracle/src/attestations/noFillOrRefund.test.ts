// A solver's promise, rules P-123 and P-126. A forged one serves the owner of a deposit that was filled: he
// would have it back as well.
import { bytesToHex, type Hex, type NoFillOrRefund, noFillOrRefundDigest } from '@causeway/core'
import { sign } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { oracleKey } from '../../../../packages/core/test/vectors/messages.ts'
import { orderBId, orderBSolverKey, repeated } from '../../../../packages/core/test/vectors/orders.ts'
import { world } from '../../test/fixtures/world.ts'
import { noFillOrRefundRequestSchema } from '../wire/requests.ts'
import { attestNoFillOrRefund } from './noFillOrRefund.ts'

const options = { signal: new AbortController().signal }
const solver: Hex = '0x2e988a386a799f506693793c6a5af6b54dfaabfb'
const promiseB: NoFillOrRefund = { solverChainId: 'base', solver, orderId: orderBId }

type Signing = { readonly key?: Hex; readonly hubChainId?: number; readonly over?: Partial<NoFillOrRefund> }

/** A request, signed over itself unless something else is said. */
async function request(change: Partial<NoFillOrRefund> = {}, signing: Signing = {}) {
  const promise = { ...promiseB, ...change }
  const { key = orderBSolverKey, hubChainId = 8453, over = {} } = signing
  const hash = bytesToHex(noFillOrRefundDigest({ ...promise, ...over }, hubChainId))
  const signature = await sign({ hash, privateKey: key, to: 'hex' })
  return noFillOrRefundRequestSchema.parse({ ...promise, signature })
}

const attest = (body: Awaited<ReturnType<typeof request>>, context = world({})) =>
  attestNoFillOrRefund(body, context, options)

test('becomes the published entry of the solver', async () => {
  const { unsigned } = await attest(await request())
  expect(unsigned.genericMapping).toEqual({
    user: '0x37af10adbc4864042698b5735132a3c8c2b146bf',
    id: '0xdd0970e29b4680229a8d3ba6d9d937f78751b498f4bc20358a8b4087672164c0',
    data: '0x01',
    nonce: '0xe4dddd8882c133ceb8ddb4fb6c5beb6e908560407a5daa7557cb31d6e14754f6',
    signatures: [],
  })
})

test('rests on no reading of a chain, and is not kept', async () => {
  expect(await attest(await request())).toMatchObject({ evidence: [], isFinal: false })
})

test('of an order id in upper case is the same entry', async () => {
  const upper: Hex = `0x${orderBId.slice(2).toUpperCase()}`
  expect((await attest(await request({ orderId: upper }))).unsigned).toEqual(
    (await attest(await request())).unsigned,
  )
})

test('of a solver on the hub itself is signed with its number', async () => {
  const onHub = await request({ solverChainId: 'relay' }, { hubChainId: 537713 })
  expect((await attest(onHub)).unsigned.genericMapping.data).toBe('0x01')
})

describe('is refused', () => {
  test.each<[string, Partial<NoFillOrRefund>, Signing]>([
    ['when somebody else signed it', {}, { key: oracleKey }],
    ['when its solver signed for another order', {}, { over: { orderId: repeated('22', 32) } }],
    ['when its solver signed for another chain', {}, { over: { solverChainId: 'ethereum' } }],
    ['when its solver signed with the number of another chain', {}, { hubChainId: 1 }],
    ['when a stranger signed it as himself', { solver: repeated('11', 20) }, {}],
    ['on the hub with the number of a chain', { solverChainId: 'relay' }, {}],
  ])('%s', async (_why, change, signing) => {
    await expect(attest(await request(change, signing))).rejects.toMatchObject({
      code: 'INVALID_SOLVER_SIGNATURE',
    })
  })

  test('in the other form of a signature', async () => {
    const body = await request()
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const s = order - BigInt(`0x${body.signature.slice(66, 130)}`)
    const v = body.signature.endsWith('1b') ? '1c' : '1b'
    const signature: Hex = `0x${body.signature.slice(2, 66)}${s.toString(16).padStart(64, '0')}${v}`
    await expect(attest({ ...body, signature })).rejects.toMatchObject({ code: 'INVALID_SOLVER_SIGNATURE' })
  })

  test.each([
    [
      'solana',
      { code: 'SOLVER_CHAIN_NOT_SUPPORTED', data: { field: 'solverChainId', solverChainId: 'solana' } },
    ],
    ['unheard', { code: 'UNKNOWN_CHAIN' }],
  ])('for a solver on %s', async (solverChainId, refusal) => {
    await expect(attest(await request({ solverChainId }))).rejects.toMatchObject(refusal)
  })

  test('where the hub file names no mapping', async () => {
    const { mappingDomain: _mapping, ...hub } = world({}).hub
    await expect(attest(await request(), { ...world({}), hub })).rejects.toMatchObject({
      code: 'GENERIC_MAPPING_NOT_CONFIGURED',
    })
  })
})
