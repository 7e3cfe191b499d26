// Orders across families: inputs of any of them, one output, and what an oracle must answer about them.
import {
  encodeTransferAction,
  type Hex,
  hubAlias,
  hubTokenId,
  type NetworkOf,
  type Order,
  orderAddress,
  orderId,
  type ProtocolChain,
  settlementExecutionKey,
} from '@causeway/core'
import { hashMessage } from 'viem'
import { sign } from 'viem/accounts'
import { protocolChain } from '../../../apps/oracle/src/attestations/context.ts'
import { orderB, orderBSolverKey } from '../../../packages/core/test/vectors/orders.ts'
import type { BedDeposit, FamilyBed } from './familyBed.ts'

const deadline = 2_000_000_000
let salt = 0

/** Required amount of one input: a hundredth of a coin. */
export function askedAmount({ decimals }: FamilyBed): bigint {
  return 10n ** BigInt(decimals) / 100n
}

/** Minimum amount of an output. */
export function filledAmount(bed: FamilyBed): bigint {
  return (askedAmount(bed) * 9n) / 10n
}

/** Minimum amount of a refund, when the deposit is the required amount. */
export function refundedAmount(bed: FamilyBed): bigint {
  return (askedAmount(bed) * 95n) / 100n
}

/** No two have one id. Each input may be refunded on its own chain (0) or on that of the output (1). */
export function orderAcross(inputs: readonly FamilyBed[], output: FamilyBed): Order {
  salt += 1
  const [first] = inputs
  if (first === undefined) throw new Error('an order has an input')
  const minimumAmount = filledAmount(output).toString()
  return {
    version: 'v1',
    solverChainId: orderB.solverChainId,
    solver: orderB.solver,
    salt: String(salt),
    inputs: inputs.map((bed, index) => ({
      payment: {
        chainId: bed.chain.id,
        currency: bed.currency,
        amount: askedAmount(bed).toString(),
        weight: String(index + 1),
      },
      refunds: [refundOn(bed), refundOn(output)],
    })),
    output: {
      chainId: output.chain.id,
      payments: [
        {
          recipient: output.recipient,
          currency: output.currency,
          minimumAmount,
          expectedAmount: minimumAmount,
        },
      ],
      calls: [],
      deadline,
      extraData: output.extraData,
    },
    fees: [
      {
        recipientChainId: output.chain.id,
        recipient: output.otherRecipient,
        currencyChainId: first.chain.id,
        currency: first.currency,
        amount: '7',
      },
    ],
  }
}

function refundOn(bed: FamilyBed): Order['inputs'][number]['refunds'][number] {
  const { chain, recipient, currency, extraData } = bed
  const minimumAmount = refundedAmount(bed).toString()
  return { chainId: chain.id, recipient, currency, minimumAmount, deadline, extraData }
}

export type PaidInput = { readonly bed: FamilyBed; readonly amount: bigint; readonly deposit: BedDeposit }

export type DepositedOrder = {
  readonly id: Hex
  readonly inputs: readonly PaidInput[]
  /** Members common to the order's fills and refunds. */
  readonly settlement: Pick<SettlementBody, 'order' | 'orderSignature' | 'inputs'>
}

type SettlementBody = {
  readonly order: Order
  readonly orderSignature: Hex
  readonly inputs: readonly {
    readonly transactionId: string
    readonly onchainId: Hex
    readonly inputIndex: number
  }[]
}

/** Signs the order and makes its deposits, which are final afterwards. */
export async function depositOrder(
  order: Order,
  paid: readonly { readonly bed: FamilyBed; readonly amount: bigint }[],
  networkOf: NetworkOf,
): Promise<DepositedOrder> {
  const id = orderId(order, networkOf)
  const hash = hashMessage({ raw: id })
  const orderSignature = await sign({ hash, privateKey: orderBSolverKey, to: 'hex' })
  const inputs: PaidInput[] = []
  for (const { bed, amount } of paid) {
    inputs.push({ bed, amount, deposit: await bed.deposit({ orderId: id, amount }) })
    await bed.finalize()
  }
  const entries = inputs.map(({ deposit: { transactionId, onchainId } }, inputIndex) => ({
    transactionId,
    onchainId,
    inputIndex,
  }))
  return { id, inputs, settlement: { order, orderSignature, inputs: entries } }
}

/** Pays somebody for the order; final afterwards. */
export async function payFor(
  id: Hex,
  bed: FamilyBed,
  { amount, recipient = bed.recipient }: { readonly amount: bigint; readonly recipient?: string },
): Promise<string> {
  const transactionId = await bed.pay({ orderId: id, recipient, amount })
  await bed.finalize()
  return transactionId
}

/** Weighted difference of deposits and inputs, in parts of 10^18. @source rule P-129 */
export function bpsDiffOf({ inputs, settlement: { order } }: DepositedOrder): bigint {
  const weighted = (amounts: readonly bigint[]) =>
    amounts.reduce(
      (sum, amount, index) => sum + amount * BigInt(order.inputs[index]?.payment.weight ?? 0),
      0n,
    )
  const paid = weighted(inputs.map(({ amount }) => amount))
  const asked = weighted(order.inputs.map(({ payment }) => BigInt(payment.amount)))
  return ((paid - asked) * 10n ** 18n) / asked
}

/**
 * Execution that the oracle signs for the hub: every deposit goes to the solver, and a fill pays the fees.
 * @source rules P-127, P-130
 */
export function executionOf(
  { id, inputs, settlement: { order } }: DepositedOrder,
  networkOf: NetworkOf,
  { paysFees }: { readonly paysFees: boolean },
) {
  const chainOf = (chainId: string): ProtocolChain => {
    const network = networkOf(chainId)
    if (network === undefined) throw new Error(`no chain ${chainId}`)
    return { chainId, vmType: network.vmType, network: network.network }
  }
  const solver = hubAlias(chainOf(order.solverChainId), order.solver)
  const moves = inputs.map(({ bed, amount, deposit: { timestampSeconds } }) => {
    const chain = protocolChain(bed.chain)
    const hubFrom = orderAddress(chain, { depositor: bed.depositor, timestampSeconds, depositId: id })
    return encodeTransferAction({
      hubFrom,
      hubTo: solver,
      hubTokenId: hubTokenId(chain, bed.currency),
      amount,
    })
  })
  const fees = order.fees.map((fee) =>
    encodeTransferAction({
      hubFrom: solver,
      hubTo: hubAlias(chainOf(fee.recipientChainId), fee.recipient),
      hubTokenId: hubTokenId(chainOf(fee.currencyChainId), fee.currency),
      amount: BigInt(fee.amount),
    }),
  )
  return {
    idempotencyKey: settlementExecutionKey({
      onchainIds: inputs.map(({ deposit }) => deposit.onchainId),
      orderId: id,
    }),
    actions: paysFees ? [...moves, ...fees] : moves,
  }
}
