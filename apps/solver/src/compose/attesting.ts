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
  /** Ids of chains on which nothing new is to be sold, because too much is paid and not attested. As of a second ago. */
  full(): readonly number[]
  /** Unattested payments and their limits. As of a second ago; empty before the first look. */
  exposure(): ReturnType<typeof exposureOf>
  close(): Promise<void>
}

const everyMs = 1_000
/** Payments asked about per round, a second each: few enough for oracles, and enough to work off a backlog of hours. */
const perRound = 8
/** Payments asked about side by side. */
const atOnce = 4

/** Asks oracles in the background to attest final payments, so that these count as unattested no more. */
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

  /** Asks about payments of the chains that this process leads on, and keeps the answers. */
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
        // Asked about with the wrong id of its deposit: the next round asks with the new one.
        if (answer.kind === 'refused' && (await followDeposit(next))) continue
        const state = await keepAnswer(database, next, answer)
        if (state === 'refused') tellRefused(next, answer.kind === 'attested' ? '' : answer.code)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
  }
  /** Keeps the deposit's new id if a reorganization has changed it. @returns true if so @source rule L-27 */
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
    const fullNow = fullChains(sums, limits)
    if (fullNow.join() !== full.join())
      logger.warn(
        { event: 'unattested_full', chainIds: fullNow },
        'chains with too much that is not attested',
      )
    full = fullNow
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
