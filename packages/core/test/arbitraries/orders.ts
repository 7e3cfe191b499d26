import fc from 'fast-check'
import type { NetworkOf } from '../../src/chain/protocolChain.ts'
import { mainNetwork, type VmType, vmTypes } from '../../src/encodings/codecs.ts'
import type { Hex } from '../../src/hex.ts'
import type { Order } from '../../src/order/order.ts'
import { accounts, currencies, type Spelled } from './addresses.ts'

/** Chains are named after their family, so that looking one up needs no table. */
const chains = vmTypes.map((vmType) => ({ chainId: vmType.replace('-vm', ''), ...mainNetwork(vmType) }))
export const randomNetworkOf: NetworkOf = (chainId) => chains.find((chain) => chain.chainId === chainId)

/** An order beside the EIP-712 message it stands for, built from the same bytes. */
export type OrderAndMessage = { readonly order: Order; readonly message: Record<string, unknown> }

const uint256 = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.bigInt({ min: 0n, max: 2n ** 64n }))
const unixSeconds = fc.integer({ min: 0, max: 0xffff_ffff })
const hexData: fc.Arbitrary<Hex> = fc.uint8Array({ maxLength: 80 }).map((bytes) => hexOf(bytes))
const anyChain = fc.constantFrom(...chains)
const accountOf = (vmType: VmType): fc.Arbitrary<Spelled> => withNative(vmType, accounts[vmType])
const currencyOf = (vmType: VmType): fc.Arbitrary<Spelled> => withNative(vmType, currencies[vmType])

const natives: Readonly<Record<VmType, Spelled>> = {
  'ethereum-vm': { text: `0x${'00'.repeat(20)}`, bytes: new Uint8Array(20) },
  'solana-vm': { text: '1'.repeat(32), bytes: new Uint8Array(32) },
  'bitcoin-vm': { text: 'bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8', bytes: new Uint8Array(20) },
  'hyperliquid-vm': { text: `0x${'00'.repeat(16)}`, bytes: new Uint8Array(16) },
  'lighter-vm': { text: '0', bytes: new Uint8Array(16) },
  'tron-vm': {
    text: 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb',
    bytes: Uint8Array.of(0x41, ...new Uint8Array(20)),
  },
}

function withNative(vmType: VmType, arbitrary: fc.Arbitrary<Spelled>): fc.Arbitrary<Spelled> {
  return fc.oneof({ weight: 4, arbitrary }, { weight: 1, arbitrary: fc.constant(natives[vmType]) })
}

function hexOf(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes).toString('hex')}`
}

/** A record of spelled addresses and plain values, as JSON text and as typed data. */
function bothForms<Shape extends Record<string, Spelled | bigint | string | number>>(shape: Shape) {
  const text: Record<string, string | number> = {}
  const typed: Record<string, string | number | bigint> = {}
  for (const [key, value] of Object.entries(shape)) {
    if (typeof value === 'object') {
      text[key] = value.text
      typed[key] = hexOf(value.bytes)
    } else {
      text[key] = typeof value === 'bigint' ? value.toString() : value
      typed[key] = value
    }
  }
  return { text, typed }
}

const payment = anyChain.chain(({ chainId, vmType }) =>
  fc
    .record({ chainId: fc.constant(chainId), currency: currencyOf(vmType), amount: uint256, weight: uint256 })
    .map(bothForms),
)

const refund = anyChain.chain(({ chainId, vmType }) =>
  fc
    .record({
      chainId: fc.constant(chainId),
      recipient: accountOf(vmType),
      currency: currencyOf(vmType),
      minimumAmount: uint256,
      deadline: unixSeconds,
      extraData: hexData,
    })
    .map(bothForms),
)

const fee = fc.tuple(anyChain, anyChain).chain(([recipientChain, currencyChain]) =>
  fc
    .record({
      recipientChainId: fc.constant(recipientChain.chainId),
      recipient: accountOf(recipientChain.vmType),
      currencyChainId: fc.constant(currencyChain.chainId),
      currency: currencyOf(currencyChain.vmType),
      amount: uint256,
    })
    .map(bothForms),
)

const output = anyChain.chain(({ chainId, vmType }) => {
  const outputPayment = fc
    .record({
      recipient: accountOf(vmType),
      currency: currencyOf(vmType),
      minimumAmount: uint256,
      expectedAmount: uint256,
    })
    .map(bothForms)
  return fc
    .record({
      payments: fc.array(outputPayment, { maxLength: 3 }),
      calls: fc.array(hexData, { maxLength: 3 }),
      deadline: unixSeconds,
      extraData: hexData,
    })
    .map(({ payments, ...rest }) => ({
      text: { chainId, payments: payments.map((form) => form.text), ...rest },
      typed: { chainId, payments: payments.map((form) => form.typed), ...rest },
    }))
})

const input = fc
  .record({ payment, refunds: fc.array(refund, { maxLength: 3 }) })
  .map(({ payment: paid, refunds }) => ({
    text: { payment: paid.text, refunds: refunds.map((form) => form.text) },
    typed: { payment: paid.typed, refunds: refunds.map((form) => form.typed) },
  }))

/** Orders over all six families. */
export const orders: fc.Arbitrary<OrderAndMessage> = fc
  .record({
    solverChainId: fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,20}$/),
    solver: accounts['ethereum-vm'],
    salt: fc.tuple(uint256, fc.boolean()),
    inputs: fc.array(input, { minLength: 1, maxLength: 3 }),
    output,
    fees: fc.array(fee, { maxLength: 3 }),
  })
  .map(({ solverChainId, solver, salt: [salt, isHexSalt], inputs, output: out, fees }) => ({
    // CAST: built field by field above in the shape of the JSON; `orderSchema` accepts it in the tests.
    order: {
      version: 'v1',
      solverChainId,
      solver: solver.text,
      salt: isHexSalt ? `0x${salt.toString(16)}` : salt.toString(),
      inputs: inputs.map((form) => form.text),
      output: out.text,
      fees: fees.map((form) => form.text),
    } as unknown as Order,
    message: {
      version: 'v1',
      solverChainId,
      solver: hexOf(solver.bytes),
      salt,
      inputs: inputs.map((form) => form.typed),
      output: out.typed,
      fees: fees.map((form) => form.typed),
    },
  }))
