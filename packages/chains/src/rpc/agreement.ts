import { UpstreamDisagreementError } from '@causeway/core'
import type { Endpoint } from './endpoint.ts'
import type { Agreement, RpcAnswer, RpcCall } from './jsonRpc.ts'
import { tally, type Vote } from './quorum.ts'
import { toUpstreamError } from './upstreamError.ts'

export type AgreementArgs = {
  readonly chainId: string
  readonly endpoints: readonly Endpoint[]
  readonly calls: readonly RpcCall[]
  readonly threshold: number
  readonly deadlineMs: number
  readonly signal?: AbortSignal | undefined
  readonly project?: ((answers: readonly RpcAnswer[]) => unknown) | undefined
}

/**
 * Asks all endpoints at once and settles on the first verdict that no missing vote can change; calls
 * still out are aborted. @throws UpstreamDisagreementError, UpstreamUnavailableError
 */
export function seekAgreement(args: AgreementArgs): Promise<Agreement> {
  const { chainId, endpoints, calls, threshold, deadlineMs, signal, project } = args
  return new Promise((resolve, reject) => {
    const controller = new AbortController()
    const cancel = () => controller.abort()
    signal?.addEventListener('abort', cancel, { once: true })
    if (signal?.aborted) cancel()
    const votes: Vote[] = []
    const failures: unknown[] = []
    let settled = false

    const decide = () => {
      const verdict = tally(votes, { configured: endpoints.length, threshold, project })
      if (verdict.status === 'open') return
      settled = true
      signal?.removeEventListener('abort', cancel)
      if (verdict.status === 'agreed') {
        resolve({ answers: verdict.answers, agreeingEndpoints: verdict.aliases })
      } else if (verdict.status === 'disagreed') {
        reject(disagreement(chainId, verdict.groups))
      } else {
        reject(toUpstreamError(chainId, failures, shortestPauseMs(endpoints)))
      }
      controller.abort()
    }
    const count = (vote: Vote) => {
      if (settled) return
      votes.push(vote)
      try {
        decide()
      } catch (error) {
        settled = true
        reject(error)
        controller.abort()
      }
    }
    for (const endpoint of endpoints) {
      // An endpoint that is paused is silent: it counts, and against the threshold.
      endpoint.send(calls, { deadlineMs, signal: controller.signal }).then(
        (answers) => count({ alias: endpoint.alias, answers }),
        (failure: unknown) => {
          failures.push(failure)
          count({ alias: endpoint.alias, answers: undefined })
        },
      )
    }
  })
}

export function shortestPauseMs(endpoints: readonly Endpoint[]): number {
  return Math.min(...endpoints.map((endpoint) => endpoint.pauseMs()))
}

function disagreement(chainId: string, groups: number): UpstreamDisagreementError {
  return new UpstreamDisagreementError(`The endpoints of chain ${chainId} contradict each other.`, {
    data: { chainId, differentAnswers: groups },
  })
}
