import { UpstreamUnavailableError } from '@causeway/core'
import {
  disagreement,
  type Electorate,
  estimatesNeeded,
  MalformedAnswerError,
  medianOfVoices,
  type RpcAnswer,
  type RpcCall,
  tally,
  type Vote,
} from '@causeway/rpc'
import type { PollingClient } from '../agreement/agreedReads.ts'
import { DestinationCallFailedError, SimulationUnsupportedError } from './simulationErrors.ts'
import { estimatedOutcome, type Outcome, simulatedOutcome } from './simulationOutcomes.ts'
import { estimateRequests, type Simulation, simulationRequest } from './simulationRequests.ts'

/** Once enough endpoints have answered, late ones have so many milliseconds to be counted too. */
const patienceMs = 100

/**
 * Runs the calls one after another in one hypothetical block, whose gas limit is `gasMax`, at every endpoint.
 * @returns the gas units that enough endpoints share, else the median of enough of them; `undefined` if the nodes do
 * not know the method
 * @throws DestinationCallFailedError when enough endpoints say so; UpstreamDisagreementError,
 * UpstreamUnavailableError
 * @source execution-apis, `eth_simulateV1`
 */
export async function simulateInOrder(
  client: PollingClient,
  simulation: Simulation,
): Promise<bigint | undefined> {
  const outcome = await askAll(client, [simulationRequest(simulation)], simulation, ([answer]) =>
    simulatedOutcome(answer, client.chainId, simulation),
  )
  return outcome === 'unknown_method' ? undefined : gasOrThrow(outcome)
}

/**
 * Estimates each call by itself at every endpoint, for nodes without `eth_simulateV1`.
 * @throws DestinationCallFailedError, SimulationUnsupportedError, UpstreamDisagreementError,
 * UpstreamUnavailableError
 */
export async function estimateEach(client: PollingClient, simulation: Simulation): Promise<bigint> {
  const outcome = await askAll(client, estimateRequests(simulation), simulation, (answers) =>
    estimatedOutcome(answers, client.chainId, simulation),
  )
  if (outcome === 'unknown_method') throw new SimulationUnsupportedError(client.chainId)
  return gasOrThrow(outcome)
}

/** Result over all endpoints: an outcome that enough share, else the median of enough gas amounts. */
function askAll(
  client: PollingClient,
  calls: readonly RpcCall[],
  { timeoutMs }: Simulation,
  read: (answers: readonly RpcAnswer[]) => Outcome | undefined,
): Promise<Outcome> {
  const { electorate, chainId } = client
  /** `decide` is called after each answer, with all so far; each is parsed once. */
  const outcomesByAlias = new Map<string, Vote<Outcome>>()
  return client.poll<Outcome>(calls, {
    timeoutMs,
    patienceMs,
    decide(votes, isLast) {
      const outcomes = votes.map(({ alias, voice, value }) => {
        const outcome = outcomesByAlias.get(alias) ?? {
          alias,
          voice,
          value: value && readSafely(read, value),
        }
        outcomesByAlias.set(alias, outcome)
        return outcome
      })
      return decideOutcome(outcomes, electorate, isLast ? chainId : undefined)
    },
  })
}

/**
 * The outcome that the votes decide:
 * 1. One that enough endpoints share, as soon as they do.
 * 2. Once votes contradict each other or are the last, the median of their gas amounts, if there are enough:
 *    nodes may count gas a little differently.
 * 3. Before the last vote `undefined`: `poll` waits. So too if the last leave too few outcomes: `poll` waits
 *    for endpoints that are later still, and then throws the failures.
 * 4. Else endpoints contradict each other, and that is thrown.
 * @param chainIdIfLast set once all votes are in, or late ones have had their time
 * @throws UpstreamDisagreementError
 */
function decideOutcome(
  votes: readonly Vote<Outcome>[],
  electorate: Electorate,
  chainIdIfLast: string | undefined,
): Outcome | undefined {
  const verdict = tally(votes, electorate, outcomeKey)
  if (verdict.status === 'agreed') return verdict.value
  const isLast = chainIdIfLast !== undefined
  if (isLast || verdict.status === 'disagreed') {
    const gas = medianOfVoices(votes.map(gasVote), electorate, (amount) => amount)
    if (gas !== undefined) return { gas }
  }
  if (!isLast) return undefined
  const usableVotes = votes.filter(({ value }) => value !== undefined)
  if (usableVotes.length < electorate.threshold) return undefined
  // The error's `differentAnswers` is the number of usable votes, up to as many as a median needs.
  throw disagreement(chainIdIfLast, Math.min(usableVotes.length, estimatesNeeded(electorate)))
}

/** An endpoint's vote for the median: the gas of its outcome; none for a failed call or an unknown method. */
function gasVote({ alias, voice, value }: Vote<Outcome>): Vote<bigint> {
  return { alias, voice, value: typeof value === 'object' && 'gas' in value ? value.gas : undefined }
}

/** Text by which outcomes are compared. Reasons are left out, because nodes word them differently. */
function outcomeKey(outcome: Outcome): string {
  if (outcome === 'unknown_method') return outcome
  return 'gas' in outcome
    ? `${outcome.gas}`
    : `${outcome.failure.code} ${outcome.failure.data?.['index'] ?? ''}`
}

/** An endpoint's outcome; `undefined`, as if it were silent, for a malformed answer or a failure of the node. */
function readSafely(
  read: (answers: readonly RpcAnswer[]) => Outcome | undefined,
  answers: readonly RpcAnswer[],
): Outcome | undefined {
  try {
    return read(answers)
  } catch (error) {
    if (error instanceof DestinationCallFailedError || error instanceof SimulationUnsupportedError) {
      return { failure: error }
    }
    if (error instanceof MalformedAnswerError || error instanceof UpstreamUnavailableError) return undefined
    throw error
  }
}

function gasOrThrow(outcome: Exclude<Outcome, 'unknown_method'>): bigint {
  if ('gas' in outcome) return outcome.gas
  throw outcome.failure
}
