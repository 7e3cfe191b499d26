import { setTimeout as sleep } from 'node:timers/promises'
import { createOracleClient, type OracleSettings } from '@causeway/chains'
import { type NetworkOf, onchainId, type SqlDatabase } from '@causeway/core'
import { recoverSigner } from '@causeway/signer'
import type { Logger } from 'pino'
import { type AskOracles, createAskOracles } from '../facts/attestations.ts'
import type { DepositReader } from '../facts/deposits.ts'
import type { SolverChain } from '../filling/filling.ts'
import {
  type DuePayment,
  exposureOf,
  fullChains,
  keepAnswer,
  keepMoved,
  readDuePayments,
  readFigures,
} from '../wallet/exposure.ts'

export type Attesting = {
  /** Chain ids on which nothing is to be sold: too much is paid there and not attested. As of a second ago. */
  full(): readonly number[]
  /** Payments that are not attested, against their caps. As of a second ago; empty before the first look. */
  exposure(): ReturnType<typeof exposureOf>
  close(): Promise<void>
}

const everyMs = 1_000
/** Payments asked about a second: oracles are not flooded, and a backlog of hours still ends. */
const perRound = 8
const atOnce = 4

/** Has oracles attest paid and final work in the background, which lowers the exposure. */
export function startAttesting(options: {
  readonly database: SqlDatabase
  /** Undefined: nothing is ever attested. */
  readonly oracles: OracleSettings | undefined
  readonly networkOf: NetworkOf
  readonly chains: readonly SolverChain[]
  readonly deposits: Pick<DepositReader, 'indexOf'>
  readonly logger: Logger
}): Attesting {
  const { database, oracles, networkOf, chains, deposits, logger } = options
  const ask = oracles && askerOf(oracles, networkOf)
  const limits = chains.map(({ chainId, exposure }) => ({ chainId, limits: exposure }))
  const closing = new AbortController()
  const { signal } = closing
  let full: readonly number[] = []
  let exposure: ReturnType<typeof exposureOf> = []
  let isFailing = false

  async function askAll(asking: AskOracles): Promise<void> {
    const chainIds = chains.filter(({ desk }) => desk.leads()).map(({ chainId }) => chainId)
    const duePayments = [...(await readDuePayments(database, { chainIds, limit: perRound }))]
    const worker = async () => {
      for (
        let next = duePayments.shift();
        next !== undefined && !signal.aborted;
        next = duePayments.shift()
      ) {
        const answer = await asking(next, signal)
        if (signal.aborted) return
        if (answer.kind === 'refused' && (await followDeposit(next))) continue
        const state = await keepAnswer(database, next, answer)
        if (state === 'refused') tellRefused(next, answer.kind === 'attested' ? '' : answer.code)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
  }
  /** @returns true if a reorganization changed the deposit's id: the payment is asked about by the new one. @source rule L-27 */
  async function followDeposit(payment: DuePayment): Promise<boolean> {
    const { deposit, asked, microUsd } = payment
    const [input] = asked.inputs
    const chainId = asked.order.inputs[0]?.payment.chainId
    if (deposit === undefined || input === undefined || chainId === undefined) return false
    const { transactionId } = input
    const onchainIndex = await deposits.indexOf(deposit, transactionId, microUsd)
    if (onchainIndex === undefined) return false
    const id = onchainId({ chainId, transactionId, onchainIndex })
    if (id === input.onchainId) return false
    await keepMoved(database, payment, id)
    return true
  }
  function tellRefused({ id, kind, chainId, transactionId }: DuePayment, code: string): void {
    logger.error(
      { event: 'payment_refused', item: id, kind, chainId, transactionHash: transactionId, code },
      'oracles refused a payment for good: its kind waits when refusedMaxMicroUsd is reached',
    )
  }
  async function look(): Promise<void> {
    if (ask !== undefined) await askAll(ask)
    const sums = await readFigures(database)
    exposure = exposureOf(sums, limits)
    const now = fullChains(sums, limits)
    if (now.join() !== full.join())
      logger.warn({ event: 'unattested_full', chainIds: now }, 'chains with too much that is not attested')
    full = now
  }
  async function repeat(): Promise<void> {
    while (!signal.aborted) {
      try {
        await look()
        isFailing = false
      } catch (error) {
        if (!isFailing && !signal.aborted)
          logger.warn({ event: 'attesting_failed', err: error }, 'payments are not attested; tried again')
        isFailing = true
      }
      await sleep(everyMs, undefined, { signal }).catch(() => undefined)
    }
  }

  const ended = repeat()
  return {
    full: () => full,
    exposure: () => exposure,
    async close() {
      closing.abort()
      await ended
    },
  }
}

function askerOf({ oracles, threshold }: OracleSettings, networkOf: NetworkOf): AskOracles {
  const clients = oracles.map((setting) => createOracleClient({ setting, recover: recoverSigner }))
  return createAskOracles({ oracles: clients, threshold, networkOf })
}
