// Users, solver and allocator on a local network, acting by real transactions.

import {
  encodeFillExtraData,
  encodeOrderCall,
  type Hex,
  type Order,
  orderId,
  orderWords,
  refundId,
} from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { type DepositAddressTerms, depositAddressOf, type EvmWithdrawal } from '@causeway/families/rules'
import {
  depositAddressesAbi,
  depositoryAbi,
  executeCallData,
  type LocalAccount,
  type TestNetwork,
  testCalls,
  testFill,
  tokenAbi,
} from '@causeway/localnet'
import { encodeFunctionData, zeroAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

export type UserChain = 'base' | 'optimism'
export type Payment = { readonly currency: Hex; readonly to: Hex; readonly amount: bigint }
export type Call = { readonly to: Hex; readonly data: Hex; readonly value: bigint }

export const native: Hex = zeroAddress
export const noOrder: Hex = `0x${'00'.repeat(32)}`

/** Blocks that make what is in the last one final. @source configs/chains.local.json */
const finalityBlocks = 3
const receiptPollMs = 20

type Sent = { readonly to: Hex; readonly data?: Hex; readonly value?: bigint }

/** Sends one transaction, waits until it succeeded, and makes it final. @returns its hash */
async function sendFinal(
  network: TestNetwork,
  chain: UserChain,
  from: LocalAccount,
  { to, data = '0x', value = 0n }: Sent,
): Promise<Hex> {
  const { walletClient, publicClient } = network.chains[chain].chain.as(from)
  const account = privateKeyToAccount(from.privateKey)
  const hash = await walletClient.sendTransaction({ account, chain: walletClient.chain, to, data, value })
  for (;;) {
    const receipt = await publicClient.request({ method: 'eth_getTransactionReceipt', params: [hash] })
    if (receipt?.status === '0x1') break
    if (receipt !== null) throw new Error(`reverted on ${chain}: ${hash}`)
    await new Promise((resolve) => setTimeout(resolve, receiptPollMs))
  }
  await network.mine(chain, finalityBlocks)
  return hash
}

/** A user deposits for an order, or for the own balance when `id` names none. */
export async function deposit(
  network: TestNetwork,
  chain: UserChain,
  user: LocalAccount,
  { currency, amount, id }: { readonly currency: Hex; readonly amount: bigint; readonly id: Hex },
): Promise<Hex> {
  const { depository } = network.deployment[chain]
  if (currency === native) {
    const args = [user.address, id] as const
    const data = encodeFunctionData({ abi: depositoryAbi, functionName: 'depositNative', args })
    return sendFinal(network, chain, user, { to: depository, data, value: amount })
  }
  const allow = encodeFunctionData({ abi: tokenAbi, functionName: 'approve', args: [depository, amount] })
  await sendFinal(network, chain, user, { to: currency, data: allow })
  const args = [user.address, currency, amount, id] as const
  const data = encodeFunctionData({ abi: depositoryAbi, functionName: 'depositErc20', args })
  return sendFinal(network, chain, user, { to: depository, data })
}

/** Somebody pays a deposit address, and the solver empties it for an order. @returns the sweep */
export async function payAndSweep(
  network: TestNetwork,
  payer: LocalAccount,
  swept: { readonly terms: DepositAddressTerms<Hex>; readonly signed: SignedOrder; readonly amount: bigint },
): Promise<Hex> {
  const { terms, signed, amount } = swept
  const { depositAddresses } = network.deployment.base
  await sendFinal(network, 'base', payer, { to: depositAddressOf(terms, depositAddresses), value: amount })
  const words = orderWords(signed.order, () => mainNetwork('ethereum-vm'))
  const struct = { ...words, solver: terms.orderSigner, salt: BigInt(words.salt) }
  const args = [terms, struct, signed.orderSignature, native] as const
  const data = encodeFunctionData({ abi: depositAddressesAbi, functionName: 'sweep', args })
  return sendFinal(network, 'base', network.keys.fillWallet, { to: depositAddresses.contract, data })
}

/** The account that an order pays what its calls spend. */
export function payeeOfCalls(network: TestNetwork, chain: UserChain, calls: readonly Call[]): Hex {
  return orderCallsOf(network, chain, calls).clone
}

function orderCallsOf(network: TestNetwork, chain: UserChain, calls: readonly Call[]) {
  const filler = network.keys.fillWallet.address
  const { fillContract } = network.deployment[chain]
  return testCalls(calls, { fillContract, filler, recipient: filler, orderSalt: noOrder })
}

/** The id that the fill contract records for the refund of a deposit that is alone in its transaction. */
export function refundIdOf(
  network: TestNetwork,
  { orderId: id }: { readonly orderId: Hex },
  deposited: { readonly transactionId: Hex; readonly currency: Hex; readonly amount: bigint },
): Hex {
  return refundId(id, { ...deposited, chainId: network.chains.base.chainId, ordinal: 0 })
}

/** The solver pays through the fill contract, with the order id after the calldata. */
export async function pay(
  network: TestNetwork,
  chain: UserChain,
  paid: {
    readonly orderId: Hex
    readonly payments: readonly Payment[]
    readonly calls?: readonly Call[]
    /** The id that the contract records; by default the order's. */
    readonly recordId?: Hex
  },
): Promise<Hex> {
  const { payments, calls = [], recordId = paid.orderId } = paid
  const natives = payments.filter(({ currency }) => currency === native)
  const tokens = payments.filter(({ currency }) => currency !== native)
  const { fillContract } = network.deployment[chain]
  const data = testFill({
    id: recordId,
    orderId: paid.orderId,
    natives,
    tokens: tokens.map(({ currency, to, amount }) => ({ token: currency, to, amount })),
    ...(calls.length > 0 && { orderCalls: orderCallsOf(network, chain, calls).orderCalls }),
  })
  return sendFinal(network, chain, network.keys.fillWallet, {
    to: fillContract,
    data,
    value: natives.reduce((sum, { amount }) => sum + amount, 0n),
  })
}

export type OrderParts = {
  readonly salt: string
  readonly input: { readonly chain: UserChain; readonly currency: Hex; readonly amount: bigint }
  readonly refundTo: Hex
  readonly output: {
    readonly chain: UserChain
    readonly payments: readonly Payment[]
    readonly calls?: readonly Call[]
  }
  readonly fees?: Order['fees']
}

export type SignedOrder = { readonly order: Order; readonly orderId: Hex; readonly orderSignature: Hex }

/** An order of one input whose refund gives back nearly all, signed by the solver. */
export async function signedOrder(network: TestNetwork, parts: OrderParts): Promise<SignedOrder> {
  const { input, output, refundTo } = parts
  const { fillWallet } = network.keys
  const deadline = 4_000_000_000
  const extraData = (chain: UserChain) => encodeFillExtraData(network.deployment[chain].fillContract)
  const order: Order = {
    version: 'v1',
    solverChainId: 'base',
    solver: fillWallet.address,
    salt: parts.salt,
    inputs: [
      {
        payment: {
          chainId: input.chain,
          currency: input.currency,
          amount: input.amount.toString(),
          weight: '1',
        },
        refunds: [
          {
            chainId: input.chain,
            recipient: refundTo,
            currency: input.currency,
            minimumAmount: ((input.amount * 99n) / 100n).toString(),
            deadline,
            extraData: extraData(input.chain),
          },
        ],
      },
    ],
    output: {
      chainId: output.chain,
      payments: output.payments.map(({ to, currency, amount }) => ({
        recipient: to,
        currency,
        minimumAmount: amount.toString(),
        expectedAmount: amount.toString(),
      })),
      calls: (output.calls ?? []).map(encodeOrderCall),
      deadline,
      extraData: extraData(output.chain),
    },
    fees: parts.fees ?? [],
  }
  const id = orderId(order, () => mainNetwork('ethereum-vm'))
  const signer = privateKeyToAccount(fillWallet.privateKey)
  return { order, orderId: id, orderSignature: await signer.signMessage({ message: { raw: id } }) }
}

/** The allocator lets the depository execute a withdrawal. */
export async function executeWithdrawal(
  network: TestNetwork,
  chain: UserChain,
  withdrawal: EvmWithdrawal,
): Promise<Hex> {
  const { depository } = network.deployment[chain]
  const data = await executeCallData({
    chainId: network.chains[chain].chainId,
    depository,
    allocator: privateKeyToAccount(network.keys.allocator.privateKey),
    request: withdrawal,
  })
  return sendFinal(network, chain, network.keys.fillWallet, { to: depository, data })
}
