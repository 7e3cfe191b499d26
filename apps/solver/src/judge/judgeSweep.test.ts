// Goal: a deposit address that is a script is emptied for its own order or back to its depositor, whatever work claims. Who
// gains by breaking it: a service that was taken over, which has one user's payment deposited for an order of another; and
// whoever forges work. Method: an order that is really signed, the family's own addresses, and one lie at a time.

import { type Hex, orderId as hashOf, type NetworkOf } from '@causeway/core'
import { bitcoinNetworkOf, InvalidAddressError } from '@causeway/core/encodings'
import { bitcoinDepositAddress, bitcoinDepositName } from '@causeway/families/rules'
import { recoverSigner } from '@causeway/signer'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll, expect, test } from 'vitest'
import { judgeSweep, type SweepRequest } from './judgeSweep.ts'

const network = bitcoinNetworkOf('regtest')
const networkOf: NetworkOf = (key) =>
  key === 'bitcoin'
    ? { vmType: 'bitcoin-vm', network: 'regtest' }
    : { vmType: 'ethereum-vm', network: undefined }
const [signer, stranger] = ['11', '22'].map((byte) => privateKeyToAccount(`0x${byte.repeat(32)}`))
if (signer === undefined || stranger === undefined) throw new Error('there are two keys')
const publicKey: Hex = '0x0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'
const otherKey: Hex = '0x02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5'
const depositor = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const depository = 'bcrt1qzuhdurqrt0ka05wd7zvphj47zzg8jcyfun6ejm'
const native = 'bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8'

const sweeping = {
  publicKey,
  depository,
  depositAddress(terms: Parameters<typeof bitcoinDepositAddress>[0]) {
    const made = bitcoinDepositAddress(terms, network)
    return { ...made, name: bitcoinDepositName(made.address, network) }
  },
}
const chain = {
  key: 'bitcoin',
  sweeping,
  orders: {
    networkOf,
    recoverSigner,
    orderSigners: new Set([signer.address.toLowerCase()]),
  },
}
const terms = {
  orderSigner: signer.address.toLowerCase() as Hex, // CAST: an address is hex.
  sweeper: publicKey,
  depositor,
  nonce: `0x${'a1'.repeat(32)}` as const,
}
const { address, name, script } = sweeping.depositAddress(terms)

function orderFor(change: { salt?: Hex; chainId?: string; refundTo?: string } = {}): SweepRequest['order'] {
  const { salt = `${name}${'07'.repeat(12)}`, chainId = 'bitcoin', refundTo = depositor } = change
  const currency = chainId === 'bitcoin' ? native : `0x${'0'.repeat(40)}`
  return {
    version: 'v1',
    solverChainId: 'base',
    solver: signer?.address ?? '0x',
    salt,
    fees: [],
    inputs: [
      {
        payment: { chainId, currency, amount: '100000', weight: '1' },
        refunds: [
          {
            chainId,
            recipient: refundTo,
            currency,
            minimumAmount: '90000',
            deadline: 9,
            extraData: '0x',
          },
        ],
      },
    ],
    output: {
      chainId: 'base',
      calls: [],
      deadline: 9,
      extraData: '0x',
      payments: [
        {
          recipient: `0x${'bb'.repeat(20)}`,
          currency: `0x${'aa'.repeat(20)}`,
          minimumAmount: '90',
          expectedAmount: '99',
        },
      ],
    },
  }
}

async function sweepOf(order: SweepRequest['order'], by = signer): Promise<SweepRequest> {
  const orderId = hashOf(order, networkOf)
  const orderSignature = (await by?.signMessage({ message: { raw: orderId } })) ?? ''
  return {
    depositAddress: address,
    orderId,
    terms,
    order,
    orderSignature,
    goesBack: false,
  }
}
let honest: SweepRequest
beforeAll(async () => {
  honest = await sweepOf(orderFor())
})

test('for its own order it goes into the depository, which the transaction names the order for', () => {
  expect(judgeSweep(honest, chain)).toEqual({
    kind: 'take',
    recipient: depository,
    orderId: honest.orderId,
    script,
  })
})

test('without an order it goes back to its depositor, and to nobody else', () => {
  expect(judgeSweep({ ...honest, goesBack: true, orderSignature: '0x' }, chain)).toEqual({
    kind: 'take',
    recipient: depositor,
    orderId: undefined,
    script,
  })
})

const other = { ...terms, nonce: `0x${'b2'.repeat(32)}` as const }
test.each<[string, () => Promise<SweepRequest> | SweepRequest, string]>([
  [
    'for an order of another address',
    () => sweepOf(orderFor({ salt: `${sweeping.depositAddress(other).name}${'07'.repeat(12)}` })),
    'for another address',
  ],
  ['for an order that a stranger signed', () => sweepOf(orderFor(), stranger), 'not signed'],
  [
    "for a stranger's own order",
    () => sweepOf({ ...orderFor(), solver: stranger.address }, stranger),
    'signed by somebody else',
  ],
  [
    'for an order that was changed after it was signed',
    () => ({ ...honest, order: orderFor({ refundTo: 'bcrt1qzuhdurqrt0ka05wd7zvphj47zzg8jcyfun6ejm' }) }),
    'another id',
  ],
  [
    'for an order that refunds somebody else',
    () => sweepOf(orderFor({ refundTo: depository })),
    'refunds somebody else',
  ],
  [
    'for an order that is paid for on another chain',
    () => sweepOf(orderFor({ chainId: 'base', refundTo: `0x${'cc'.repeat(20)}` })),
    'another chain',
  ],
  ['of an address with other terms', () => ({ ...honest, terms: other }), 'other terms'],
  [
    'back to somebody who is not its depositor',
    () => ({ ...honest, goesBack: true, terms: { ...terms, depositor: depository } }),
    'other terms',
  ],
  [
    'of an address that another wallet empties',
    () => {
      const foreign = { ...terms, sweeper: otherKey }
      return { ...honest, terms: foreign, depositAddress: sweeping.depositAddress(foreign).address }
    },
    'another wallet',
  ],
  [
    'by terms that make no address',
    () => ({
      ...honest,
      terms: { ...terms, depositor: 'bcrt1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqc8gma6' },
    }),
    'other terms',
  ],
])('nothing is swept %s', async (_what, lie, reason) => {
  expect(judgeSweep(await lie(), chain)).toMatchObject({
    kind: 'refuse',
    reason: expect.stringContaining(reason),
  })
})

test('without a depository it goes back alone', () => {
  const poor = { ...chain, sweeping: { ...sweeping, depository: undefined } }
  expect(judgeSweep(honest, poor)).toMatchObject({ kind: 'refuse', reason: 'the chain has no depository' })
  expect(judgeSweep({ ...honest, goesBack: true }, poor)).toMatchObject({ kind: 'take' })
})

test('for an order that refunds its depositor and somebody else nothing is swept', async () => {
  const order = orderFor()
  const inputs = order.inputs.map(({ payment, refunds }) => ({
    payment,
    refunds: refunds.flatMap((refund) => [refund, { ...refund, recipient: depository }]),
  }))
  const asked = await sweepOf({ ...order, inputs })
  expect(judgeSweep(asked, chain)).toMatchObject({
    kind: 'refuse',
    reason: 'the order refunds somebody else',
  })
})

test('what is no refusal of an address is told as it is', () => {
  const broken = () => {
    throw new Error('the library is missing')
  }
  expect(() => judgeSweep(honest, { ...chain, sweeping: { ...sweeping, depositAddress: broken } })).toThrow(
    'missing',
  )
  expect(() => sweeping.depositAddress({ ...terms, depositor: 'nobody' })).toThrow(InvalidAddressError)
})
