// Orders as quote-api signs them, with deposits that lie in a real depository.
import {
  encodeFillExtraData,
  encodeOrderCall,
  type Hex,
  orderId as hashOf,
  type NetworkOf,
  type Order,
  type OrderWords,
  orderWords,
} from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { orderCloneAddress } from '@causeway/families/rules'
import { depositoryAbi, type LocalAccount, type TestNetwork } from '@causeway/localnet'
import { encodeFunctionData, type Log, zeroAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import type { ScriptedItem } from './scriptedWork.ts'
import type { UserChain } from './solverBench.ts'

const networkOf: NetworkOf = (key) =>
  key === 'base' || key === 'optimism' ? mainNetwork('ethereum-vm') : undefined

/** Input worth a little more than 2 USDC at the local network's present price. */
const inputWei = 10n ** 15n

type OrderCalls = readonly { readonly to: Hex; readonly data: Hex; readonly value: bigint }[]

export type PaidOrder = {
  readonly orderId: Hex
  readonly order: Order
  readonly orderSignature: Hex
  readonly from: UserChain
  readonly to: UserChain
  readonly calls: OrderCalls
  /** Gets what the calls leave over, where there are calls. */
  readonly recipient: Hex | undefined
  /** Absent until it was deposited. */
  readonly deposits: readonly { chainId: number; transactionId: Hex; onchainIndex: string }[]
}

type OrderWishes = {
  readonly from?: UserChain
  readonly payments?: readonly {
    readonly recipient?: Hex
    readonly currency?: Hex
    readonly amount: bigint
  }[]
  /** With calls the order's clone is paid, which sweeps to the first recipient. */
  readonly calls?: OrderCalls
  readonly inputWei?: bigint
  readonly refundTo?: Hex
  /** A second account that its refund may go to. */
  readonly alsoRefunds?: Hex
  readonly deadline?: number
  readonly signer?: LocalAccount
  /** Default: a random one. */
  readonly salt?: Hex
}

export function freshAccount(): LocalAccount {
  const privateKey = generatePrivateKey()
  // CAST: an address in lower case is one, and answers spell it so.
  return { privateKey, address: privateKeyToAddress(privateKey).toLowerCase() as Hex }
}

export const freshAddress = (): Hex => privateKeyToAddress(generatePrivateKey())
const inAnHour = () => Math.floor(Date.now() / 1_000) + 3_600

export async function signOrder(network: TestNetwork, wishes: OrderWishes = {}): Promise<PaidOrder> {
  const { from = 'base', calls = [], refundTo = freshAddress(), deadline = inAnHour() } = wishes
  const { payments = [{ amount: 1_000n }], signer = network.keys.orderSigner, alsoRefunds } = wishes
  const to: UserChain = from === 'base' ? 'optimism' : 'base'
  const extraData = (key: UserChain) => encodeFillExtraData(network.deployment[key].fillContract)
  const amount = (wishes.inputWei ?? inputWei).toString()
  const salt = wishes.salt ?? generatePrivateKey()
  const recipient = calls.length === 0 ? undefined : (payments[0]?.recipient ?? freshAddress())
  const clone =
    recipient &&
    orderCloneAddress({
      recipient,
      calls,
      orderSalt: salt,
      fillContract: network.deployment[to].fillContract,
      filler: network.keys.fillWallet.address,
    })
  const order: Order = {
    version: 'v1',
    solverChainId: from,
    solver: signer.address,
    salt,
    inputs: [
      {
        payment: { chainId: from, currency: zeroAddress, amount, weight: '1' },
        refunds: [refundTo, ...(alsoRefunds === undefined ? [] : [alsoRefunds])].map((refunded) => ({
          chainId: from,
          recipient: refunded,
          currency: zeroAddress,
          minimumAmount: '0',
          deadline,
          extraData: extraData(from),
        })),
      },
    ],
    output: {
      chainId: to,
      payments: payments.map(({ recipient: payee = freshAddress(), currency, amount: paid }) => ({
        recipient: clone ?? payee,
        currency: currency ?? network.deployment[to].tokens.USDC,
        minimumAmount: paid.toString(),
        expectedAmount: paid.toString(),
      })),
      calls: calls.map(encodeOrderCall),
      deadline,
      extraData: extraData(to),
    },
    fees: [],
  }
  const orderId = hashOf(order, networkOf)
  const orderSignature = await privateKeyToAccount(signer.privateKey).signMessage({
    message: { raw: orderId },
  })
  return { orderId, order, orderSignature, from, to, calls, recipient, deposits: [] }
}

/** Fields from which contracts compute the order's id. */
export const wordsOf = ({ order }: PaidOrder): OrderWords => orderWords(order, networkOf)

/** Deposits what the orders ask for, or other amounts, and waits until it is deep enough. */
export async function deposit(
  network: TestNetwork,
  orders: readonly PaidOrder[],
  amountWei?: bigint,
): Promise<readonly PaidOrder[]> {
  const [payer] = network.keys.users
  if (payer === undefined) throw new Error('a network has users')
  const paid: PaidOrder[] = []
  for (const from of ['base', 'optimism'] as const) {
    const own = orders.filter((order) => order.from === from)
    if (own.length === 0) continue
    const { depository, chainId } = network.deployment[from]
    const { chain } = network.chains[from]
    const fromBlock = (await chain.client.getBlockNumber({ cacheTime: 0 })) + 1n
    await chain.send(
      payer,
      own.map(({ order, orderId }) => ({
        what: 'deposit',
        to: depository,
        data: encodeFunctionData({
          abi: depositoryAbi,
          functionName: 'depositNative',
          args: [payer.address, orderId],
        }),
        valueWei: amountWei ?? BigInt(order.inputs[0]?.payment.amount ?? 0),
      })),
    )
    const events = await chain.client.getContractEvents({
      address: depository,
      abi: depositoryAbi,
      eventName: 'RelayNativeDeposit',
      fromBlock,
      strict: true,
    })
    const placeOf = (event: Log<bigint, number, false>) => ({
      chainId,
      transactionId: event.transactionHash,
      onchainIndex: String(event.logIndex),
    })
    for (const order of own) {
      const deposits = events.filter(({ args }) => args.id === order.orderId).map(placeOf)
      paid.push({ ...order, deposits })
    }
  }
  return paid
}

export async function paidOrder(network: TestNetwork, wishes: OrderWishes = {}): Promise<PaidOrder> {
  const [paid] = await deposit(network, [await signOrder(network, wishes)])
  if (paid === undefined) throw new Error('one order is one order')
  return paid
}

export async function paidOrders(network: TestNetwork, wishes: readonly OrderWishes[]) {
  return deposit(network, await Promise.all(wishes.map((wish) => signOrder(network, wish))))
}

let lastItem = 0
function nextItemId(): string {
  lastItem += 1
  return `00000000-0000-4000-8000-${String(lastItem).padStart(12, '0')}`
}

export type Item = ScriptedItem & {
  readonly orderId: Hex
  readonly chain: UserChain
  readonly payload: object
}

/** The fill of an order as quote-api offers it. @param change members that somebody forged */
export function fillItem(network: TestNetwork, paid: PaidOrder, change: object = {}): Item {
  const { orderId, order, orderSignature, deposits, to, calls, recipient } = paid
  const { chainId, fillContract } = network.deployment[to]
  return {
    id: nextItemId(),
    kind: 'fill',
    orderId,
    chain: to,
    payload: {
      orderId,
      chainId,
      fillContract,
      deadline: order.output.deadline,
      order,
      orderSignature,
      deposits,
      payments: order.output.payments.map(({ recipient, currency, expectedAmount: amount }) => ({
        recipient,
        currency,
        amount,
      })),
      calls: calls.map(({ value, ...call }) => ({ ...call, value: value.toString() })),
      recipient,
      ...change,
    },
  }
}

/** The refund of an order's first deposit. */
export function refundItem(network: TestNetwork, paid: PaidOrder, change: object = {}): Item {
  const { orderId, order, orderSignature, deposits, from } = paid
  const { chainId, fillContract } = network.deployment[from]
  const [input] = order.inputs
  return {
    id: nextItemId(),
    kind: 'refund',
    orderId,
    chain: from,
    payload: {
      orderId,
      chainId,
      fillContract,
      deadline: inAnHour(),
      order,
      orderSignature,
      deposits: deposits.slice(0, 1),
      endsOrder: true,
      recipient: input?.refunds[0]?.recipient,
      currency: input?.payment.currency,
      amount: input?.payment.amount,
      ...change,
    },
  }
}

export function claimItem(
  network: TestNetwork,
  chain: UserChain,
  payment: {
    readonly recipient: Hex
    readonly currency: Hex
    readonly amount: bigint
    /** Wallet whose app fees it takes; absent as in items of older releases. */
    readonly wallet?: Hex
  },
): Item {
  const claimId = generatePrivateKey()
  const { chainId, fillContract } = network.deployment[chain]
  const { recipient, currency, amount, wallet } = payment
  return {
    id: nextItemId(),
    kind: 'claim',
    orderId: claimId,
    chain,
    payload: {
      claimId,
      chainId,
      fillContract,
      deadline: inAnHour(),
      recipient,
      currency,
      wallet,
      amount: amount.toString(),
    },
  }
}

/** Orders of both directions that pay `1000` of something each. */
export const manyWishes = (count: number): OrderWishes[] =>
  Array.from({ length: count }, (_, index) => ({
    from: index % 2 === 0 ? ('base' as const) : ('optimism' as const),
    payments: [{ amount: 1_000n, ...(index % 3 === 0 && { currency: zeroAddress }) }],
  }))
