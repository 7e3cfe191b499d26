// The solver of the operator: it waits where too much is not attested, runs a payment before it signs it, pays by
// record alone, and has oracles attest what it paid. All of these rules are the shipped ones; its records are maps.

import type { OracleAnswer } from '@causeway/chains'
import { type Hex, onchainId } from '@causeway/core'
import { concatHex } from 'viem'
import { judgeAnswers } from '../../../apps/solver/src/facts/attestations.ts'
import { type Exposure, type Figures, fullChains } from '../../../apps/solver/src/wallet/exposure.ts'
import type { SentTransaction } from '../chain/chain.ts'
import { payThroughFillContract, tokenCalls } from '../contracts/calls.ts'
import { type Lie, votersOf } from '../endpoints.ts'
import { chainNumbers, coinAddress, type Network, type UserChainId, userChainIds } from '../network.ts'
import { finalityBlocks, type Oracles } from '../oracles.ts'
import type { Rules } from '../rules.ts'
import { recordIdOf, type WorkItem } from '../serviceRequest.ts'
import type { SignedSettlement, World } from '../world.ts'

/** Whole units of every currency, in place of micro-USD. */
export const exposureLimits = { chainMicroUsd: 3_000n, allMicroUsd: 5_000n, refusedMicroUsd: 300n }
const gasLimits = { transactionGasMax: 2n ** 24n, affordableGas: 2n ** 24n }
const threshold = 2
const refusalsMax = 3

/** A payment that was signed. */
export type SignedPayment = Pick<Exposure, 'kind' | 'microUsd' | 'traits'> & {
  readonly item: WorkItem
  readonly chain: UserChainId
  /** As it was signed: the item may be worked on again. */
  readonly payments: WorkItem['payments']
  readonly recordId: Hex
  readonly transaction: Hex
  /** Whole units of its kind that oracles had refused for good when it was signed. */
  readonly refusedBefore: bigint
  /** In the block that it was sent for. */
  readonly succeeded: boolean
  /** False for a refund beside its order's settlement, which no oracle attests. */
  readonly isAsked: boolean
  state: 'paid' | 'void' | 'attested' | 'refused'
  refusals: number
}

export class HonestSolver {
  readonly signed: SignedPayment[] = []
  /** Settlements that oracles signed for it. */
  readonly settlements: SignedSettlement[] = []
  readonly #network: Network
  readonly #oracles: Oracles
  readonly #rules: Rules
  readonly #voters: Readonly<Record<UserChainId, ReturnType<typeof votersOf>>>

  constructor(network: Network, oracles: Oracles, rules: Rules) {
    this.#network = network
    this.#oracles = oracles
    this.#rules = rules
    this.#voters = {
      base: votersOf('solver', network.chains.base),
      optimism: votersOf('solver', network.chains.optimism),
    }
  }

  /** One of the endpoints that it asks lies. */
  lie(chain: UserChainId, lie: Lie): void {
    this.#voters[chain].liar.lie = lie
  }

  /** Nothing is to be sold to these chains. */
  get full(): readonly number[] {
    const limits = exposureLimits
    return fullChains(
      this.#figures(),
      userChainIds.map((id) => ({ chainId: chainNumbers[id], limits })),
    )
  }

  /** Does what the service asks for, and says so. */
  async carryOut(world: World, item: WorkItem): Promise<void> {
    if (item.state !== 'open') return
    const { chain, kind, payments, request } = item
    const { deadline } = request.known.order.output
    if (kind === 'fill' && Number(this.#network.chains[chain].headSeconds) >= deadline) return
    const exposure = await this.#exposureOf(item)
    if (kind === 'fill' && this.#waits(exposure)) {
      world.reached.push('payments that waited for attestations')
      return
    }
    const sent = await this.#transactionOf(world, item)
    const transaction = {
      from: sent.from,
      to: sent.to,
      data: sent.data ?? '0x',
      valueWei: sent.value ?? 0n,
      maxFeePerGasWei: 10n ** 10n,
      maxPriorityFeePerGasWei: 0n,
    } as const
    const trial = await this.#rules.tryTransaction(this.#voters[chain], transaction, gasLimits)
    if (trial.kind !== 'succeeds') {
      world.reached.push('payments that would fail')
      if (trial.kind === 'fails') world.service.fail(item)
      return
    }
    const [trait = ''] = exposure.traits
    const refusedBefore = this.#refusedOn(exposure.chainId).get(trait) ?? 0n
    const { id, succeeded } = await world.send(chain, sent)
    this.signed.push({
      refusedBefore,
      item,
      chain,
      payments,
      transaction: id,
      succeeded,
      recordId: recordIdOf(item),
      refusals: 0,
      kind,
      microUsd: exposure.microUsd,
      traits: exposure.traits,
      isAsked: isAttested(item),
      state: succeeded ? 'paid' : 'void',
    })
    world.service.report(item, id)
  }

  /** Has oracles attest what is paid and final. */
  async ask(world: World): Promise<void> {
    for (const payment of this.signed) {
      if (payment.state !== 'paid' || !payment.isAsked || !this.isFinal(payment)) continue
      const { kind } = judgeAnswers(await this.#answersTo(payment), threshold)
      payment.refusals = kind === 'refused' ? payment.refusals + 1 : 0
      if (kind === 'attested') payment.state = 'attested'
      if (kind !== 'refused' || payment.refusals < refusalsMax) continue
      payment.state = 'refused'
      world.reached.push('payments that oracles refused for good')
    }
  }

  isFinal({ chain, transaction }: Pick<SignedPayment, 'chain' | 'transaction'>): boolean {
    const { headNumber } = this.#network.chains[chain]
    const receipt = this.#network.chains[chain].receiptOf(transaction)
    return receipt !== undefined && receipt.blockNumber <= headNumber - finalityBlocks
  }

  async #answersTo({ kind, item, transaction }: SignedPayment): Promise<readonly OracleAnswer[]> {
    const { known, deposits } = item.request
    const { order, orderSignature, origin: chainId } = known
    const deposit = deposits.get(item.depositId)
    if (deposit === undefined) return []
    const { transaction: transactionId, fact } = deposit
    const id = onchainId({ chainId, transactionId, onchainIndex: fact.onchainIndex })
    const asked = { order, orderSignature, inputs: [{ transactionId, onchainId: id, inputIndex: 0 }] }
    const refunds = [{ transactionId: transaction, inputIndex: 0, refundIndex: 0 }]
    const answers = await Promise.all(
      this.#oracles.honest.map((oracle) =>
        kind === 'fill'
          ? oracle.attest('fill', { ...asked, fill: { transactionId: transaction } })
          : oracle.attest('refund', { ...asked, refunds }),
      ),
    )
    // One payment settles one deposit as long as every honest oracle remembers: the bad peer forgets.
    if (answers.every((answer) => answer.ok && answer.response.execution !== undefined))
      this.settlements.push({
        kind: kind === 'fill' ? 'fill' : 'refund',
        known,
        transaction,
        deposit: transactionId,
        deposited: fact.amount,
      })
    return answers.map((answer): OracleAnswer => {
      if (answer.ok) return { said: 'signed', signer: '0x', signature: '0x' }
      return { said: answer.isDenied ? 'denied' : 'nothing', code: answer.code }
    })
  }

  /** Approves the contract where it must; else the payment alone is sent. */
  async #transactionOf(world: World, item: WorkItem): Promise<SentTransaction> {
    const { chain, payments, request } = item
    const { fillContract } = this.#network.places[chain]
    const from = this.#network.keys.fillWallet.address
    const { orderId, order } = request.known
    const [only] = payments
    if (this.#rules.paysBy === 'transfer' && only !== undefined) {
      const { recipient, currency, amount } = only
      if (currency === coinAddress) return { from, to: recipient, data: orderId, value: amount }
      return { from, to: currency, data: concatHex([tokenCalls.transfer(recipient, amount), orderId]) }
    }
    await approveOnce(world, chain, from, payments)
    const deadline = item.kind === 'fill' ? BigInt(order.output.deadline) : 2n ** 40n
    const call = recordCall({ id: recordIdOf(item), deadline, payments })
    return { from, to: fillContract, data: concatHex([call.data, orderId]), value: call.value }
  }

  #waits(exposure: Exposure): boolean {
    const refused = this.#refusedOn(exposure.chainId)
    return this.#rules.fullLimit(exposure, { sums: this.#figures(), refused }) !== undefined
  }

  /** Sums of what oracles refused for good on a chain, by first trait. */
  #refusedOn(chainId: number): ReadonlyMap<string, bigint> {
    const refused = new Map<string, bigint>()
    for (const { state, chain, traits, microUsd } of this.signed) {
      if (state !== 'refused' || chainNumbers[chain] !== chainId) continue
      const [trait = ''] = traits
      refused.set(trait, (refused.get(trait) ?? 0n) + microUsd)
    }
    return refused
  }

  #figures(): Figures {
    const sums = new Map<number, Record<'payments' | 'claims' | 'others' | 'refused', bigint>>()
    for (const { state, chain, microUsd, isAsked } of this.signed) {
      if (state !== 'paid' && state !== 'refused') continue
      const own = sums.get(chainNumbers[chain]) ?? { payments: 0n, claims: 0n, others: 0n, refused: 0n }
      own[state === 'refused' ? 'refused' : isAsked ? 'payments' : 'others'] += microUsd
      sums.set(chainNumbers[chain], own)
    }
    return sums
  }

  async #exposureOf({ kind, chain, payments }: WorkItem): Promise<Exposure> {
    const codes = await Promise.all(
      payments.map(({ recipient }) =>
        this.#network.chains[chain].ask({ method: 'eth_getCode', params: [recipient, 'latest'] }),
      ),
    )
    const hasCode = codes.some((answer) => answer.ok && answer.result !== '0x')
    const currencies = [...new Set(payments.map(({ currency }) => currency))]
    return {
      kind,
      chainId: chainNumbers[chain],
      limits: exposureLimits,
      asked: undefined,
      appFees: [],
      hasOracles: true,
      microUsd: payments.reduce((sum, { amount }) => sum + amount, 0n),
      traits: hasCode ? ['code', ...currencies] : currencies,
    }
  }
}

/** True if it settles an order: its fill, or the one refund of a deposit that was not paid otherwise. */
function isAttested({ kind, request, payments: [payment], ...item }: WorkItem): boolean {
  if (kind === 'fill') return true
  const { known, items } = request
  const isOwn = payment?.currency === known.order.inputs[0]?.payment.currency
  const hasOther = items.some((one) => one.transaction !== undefined && one.depositId === item.depositId)
  return isOwn && !hasOther
}

/** `pay` of the fill contract, without the order id behind it. */
export function recordCall({
  id,
  deadline,
  payments,
}: Pick<WorkItem, 'payments'> & { readonly id: Hex; readonly deadline: bigint }): {
  readonly data: Hex
  readonly value: bigint
} {
  const isCoin = ({ currency }: WorkItem['payments'][number]) => currency === coinAddress
  const natives = payments.filter(isCoin).map(({ recipient: to, amount }) => ({ to, amount }))
  const tokens = payments.flatMap((payment) =>
    isCoin(payment) ? [] : [{ token: payment.currency, to: payment.recipient, amount: payment.amount }],
  )
  const value = natives.reduce((sum, { amount }) => sum + amount, 0n)
  return { data: payThroughFillContract(id, deadline, natives, tokens), value }
}

/** Has the fill contract take what it pays from `from`. */
export async function approveOnce(
  world: World,
  chain: UserChainId,
  from: Hex,
  payments: WorkItem['payments'],
): Promise<void> {
  const { fillContract } = world.network.places[chain]
  for (const token of new Set(payments.map(({ currency }) => currency))) {
    if (token === coinAddress) continue
    const allowance = await world.network.chains[chain].call(token, tokenCalls.allowance(from, fillContract))
    if (BigInt(allowance) >= 2n ** 200n) continue
    await world.send(chain, { from, to: token, data: tokenCalls.approve(fillContract, 2n ** 255n) })
  }
}
