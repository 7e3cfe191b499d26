import { setTimeout as sleep } from 'node:timers/promises'
import { createOracleClient, type OracleSettings } from '@causeway/chains'
import { type NetworkOf, onchainId, type SqlDatabase } from '@causeway/core'
import { recoverSigner } from '@causeway/signer'
import type { Logger } from 'pino'
import { type AskOracles, createAskOracles } from '../facts/attestations.ts'
import type { DepositReader } from '../facts/deposits.ts'
import type { SolverChain } from '../filling/filling.ts'
import { type DuePayment, keepAnswer, keepMoved, readDuePayments } from '../wallet/duePayments.ts'
import { type ChainExposure, chainExposures, fullChains, readFigures } from '../wallet/exposure.ts'

/** Unattested payments, as of a second ago. */
export type Attesting = {
  /** Ids of chains on which nothing new is to be sold, because too much is paid and not attested. */
  full(): readonly number[]
  /** Unattested payments and their limits; empty before the first look. */
  exposure(): readonly ChainExposure[]
  close(): Promise<void>
}

type AttestingOptions = {
  readonly database: SqlDatabase
  /** Undefined: nothing is ever attested. */
  readonly oracles: OracleSettings | undefined
  readonly networkOf: NetworkOf
  readonly chains: readonly SolverChain[]
  readonly deposits: Pick<DepositReader, 'indexOf'>
  readonly logger: Logger
}

const everyMs = 1_000
/** Payments asked about in one look, once a second: few for oracles, and enough for a backlog of hours. */
const perLook = 8
/** Payments asked about side by side. */
const atOnce = 4

/** Asks oracles in the background to attest final payments, so that these count as unattested no more. */
export function startAttesting(options: AttestingOptions): Attesting {
  const { database, oracles, networkOf, chains, logger } = options
  const ask = oracles && openOracles(oracles, networkOf)
  const limits = chains.map(({ chainId, exposure }) => ({ chainId, limits: exposure }))
  const closing = new AbortController()
  let full: readonly number[] = []
  let exposure: readonly ChainExposure[] = []

  async function look(): Promise<void> {
    if (ask !== undefined) await askAboutDue(options, ask, closing.signal)
    const sums = await readFigures(database)
    exposure = chainExposures(sums, limits)
    const fullNow = fullChains(sums, limits)
    if (fullNow.join() !== full.join())
      logger.warn(
        { event: 'unattested_full', chainIds: fullNow },
        'chains with too much that is not attested',
      )
    full = fullNow
  }

  const ended = repeat(look, logger, closing.signal)
  return {
    full: () => full,
    exposure: () => exposure,
    async close() {
      closing.abort()
      await ended
    },
  }
}

function openOracles({ oracles, threshold }: OracleSettings, networkOf: NetworkOf): AskOracles {
  const clients = oracles.map((setting) => createOracleClient({ setting, recover: recoverSigner }))
  return createAskOracles({ oracles: clients, threshold, networkOf })
}

/** Looks every second until aborted. Of successive failures only the first is logged. */
async function repeat(look: () => Promise<void>, logger: Logger, signal: AbortSignal): Promise<void> {
  let isFailing = false
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

/** Asks about due payments of the chains that this process leads on, `atOnce` of them side by side. */
async function askAboutDue(options: AttestingOptions, ask: AskOracles, signal: AbortSignal): Promise<void> {
  const { database, chains } = options
  const chainIds = chains.filter(({ desk }) => desk.leads()).map(({ chainId }) => chainId)
  const waiting = [...(await readDuePayments(database, { chainIds, limit: perLook }))]
  const worker = async () => {
    for (let payment = waiting.shift(); payment !== undefined; payment = waiting.shift()) {
      if (signal.aborted) return
      await askAbout(payment, options, ask, signal)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

/** Asks all oracles about one payment and keeps their answer. */
async function askAbout(
  payment: DuePayment,
  { database, deposits, logger }: AttestingOptions,
  ask: AskOracles,
  signal: AbortSignal,
): Promise<void> {
  const answer = await ask(payment, signal)
  if (signal.aborted) return
  // Oracles refuse an id that the deposit no longer has. That refusal is not kept: the new id is asked next.
  if (answer.kind === 'refused' && (await followDeposit(payment, database, deposits))) return
  const state = await keepAnswer(database, payment, answer)
  if (state !== 'refused') return
  const { id, kind, chainId, transactionId: transactionHash } = payment
  const code = 'code' in answer ? answer.code : ''
  logger.error(
    { event: 'payment_refused', item: id, kind, chainId, transactionHash, code },
    'oracles refused a payment for good: its kind waits when refusedMaxMicroUsd is reached',
  )
}

/** Keeps the deposit's new id if a reorganization has changed it. @returns true if so @source rule L-27 */
async function followDeposit(
  payment: DuePayment,
  database: SqlDatabase,
  deposits: Pick<DepositReader, 'indexOf'>,
): Promise<boolean> {
  const { deposit, asked, microUsd } = payment
  const [input] = asked.inputs
  const chainId = asked.order.inputs[0]?.payment.chainId
  if (deposit === undefined || input === undefined || chainId === undefined) return false
  const { transactionId } = input
  // The worth decides how deep the deposit's block must be.
  const onchainIndex = await deposits.indexOf(deposit, transactionId, microUsd)
  if (onchainIndex === undefined) return false
  const id = onchainId({ chainId, transactionId, onchainIndex })
  if (id === input.onchainId) return false
  await keepMoved(database, payment, id)
  return true
}
