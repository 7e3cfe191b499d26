import { randomBytes } from 'node:crypto'
import { bytesToHex, maxBigint, UpstreamUnavailableError } from '@causeway/core'
import { tronAddress } from '@causeway/core/encodings'
import type { ChainClient, Electorate, RpcAnswer, Vote } from '@causeway/rpc'
import { medianOfVoices, unlessUnreadable } from '@causeway/rpc'
import type { EstimatedFrom } from '../../shared/networkReader.ts'
import { type TokenEnergy, usualTokenEnergy } from '../rules/quoting/tronFees.ts'
import { parseRun } from './nodeCalls.ts'
import { approvalTrial, transferTrial } from './tokenCalls.ts'

/** Time for which a measurement is cached: a contract's energy factor changes every six hours. */
const measuredAgeMsMax = 60_000
/** Once enough endpoints have answered, late ones have so many milliseconds left until votes are counted. */
const patienceMs = 250

/**
 * Energy of the dearest token. `from`: `median` if enough nodes could run any of the calls, else all is
 * assumed.
 */
export type MeasuredEnergy = { readonly energy: TokenEnergy; readonly from: EstimatedFrom }

const unmeasured: MeasuredEnergy = { energy: usualTokenEnergy, from: 'configured' }

/**
 * Energy of the listed tokens for a transfer and an allowance, measured by calls that nodes run for the fill wallet
 * without sending. Nodes differ, so the median of enough of them counts. If the wallet has none of a token, the usual
 * energy is assumed. Never rejects for what endpoints do.
 */
export function createEnergyMeter(options: {
  readonly client: ChainClient
  readonly tokens: readonly string[]
  readonly fillWallet: string | undefined
  readonly now: () => number
}): (timeoutMs: number) => Promise<MeasuredEnergy> {
  const { client, tokens, fillWallet, now } = options
  let cached: { readonly atMs: number; readonly measured: MeasuredEnergy } | undefined
  return async (timeoutMs) => {
    if (fillWallet === undefined || tokens.length === 0) return unmeasured
    if (cached !== undefined && now() - cached.atMs < measuredAgeMsMax) return cached.measured
    try {
      const measured = await measure(client, { tokens, fillWallet, timeoutMs })
      cached = { atMs: now(), measured }
      return measured
    } catch (error) {
      if (error instanceof UpstreamUnavailableError) return cached?.measured ?? unmeasured
      throw error
    }
  }
}

/** Trials in the order of `measure`: transfer to a holder, transfer to a new holder, approval. */
const trialsPerToken = 3

type Measurement = {
  readonly tokens: readonly string[]
  readonly fillWallet: string
  readonly timeoutMs: number
}

function measure(
  client: ChainClient,
  { tokens, fillWallet: from, timeoutMs }: Measurement,
): Promise<MeasuredEnergy> {
  // A new random account each time: nobody can have paid it the token before.
  const nobody = tronAddress(bytesToHex(randomBytes(20)))
  const calls = tokens.flatMap((token) => [
    // The fill wallet itself is the holder.
    transferTrial(token, { from, to: from }),
    transferTrial(token, { from, to: nobody }),
    approvalTrial(token, { owner: from, spender: nobody }),
  ])
  return client.poll<MeasuredEnergy>(calls, {
    timeoutMs,
    patienceMs,
    decide: (votes, isLast) => (isLast ? energyIn(votes, tokens.length, client.electorate) : undefined),
  })
}

type Votes = readonly Vote<readonly RpcAnswer[]>[]

/** Energy of each trial for the most expensive token; the usual energy for a token that was not measured. */
function energyIn(votes: Votes, tokenCount: number, electorate: Electorate): MeasuredEnergy {
  const mediansOf = (trial: number) =>
    Array.from({ length: tokenCount }, (_, token) =>
      medianOfRuns(votes, trialsPerToken * token + trial, electorate),
    )
  const medians = { toHolder: mediansOf(0), toNewHolder: mediansOf(1), approve: mediansOf(2) }
  const dearest = (use: keyof TokenEnergy): bigint =>
    medians[use].map((median) => median ?? usualTokenEnergy[use]).reduce(maxBigint, 0n)
  const isMeasured = Object.values(medians).some((list) => list.some((median) => median !== undefined))
  return {
    energy: {
      toHolder: dearest('toHolder'),
      toNewHolder: dearest('toNewHolder'),
      approve: dearest('approve'),
    },
    from: isMeasured ? 'median' : 'configured',
  }
}

function medianOfRuns(votes: Votes, index: number, electorate: Electorate): bigint | undefined {
  const runs = votes.map((vote) => ({
    ...vote,
    value: unlessUnreadable(() => {
      const run = parseRun(vote.value?.[index])
      return run.succeeds ? run.energy : undefined
    }),
  }))
  return medianOfVoices(runs, electorate, (energy) => energy)
}
