import { announce, isWithin, nameOf, type Step, usdText } from './plan.ts'
import type { StepResult } from './report.ts'

/** A step was not taken, or failed, which is its cause. The run ends, and money goes back. */
export class Stopped extends Error {}

/** @returns what the work found; it tells beside that what came of it */
export type Take = <Value>(step: Step, work: () => Promise<readonly [Value, string]>) => Promise<Value>

type Steps = {
  /** Says what a step spends, and takes it where the sum allows. @throws Stopped */
  readonly take: Take
  /** All until now, in their order. */
  readonly taken: readonly StepResult[]
}

/**
 * @param limits.outlay what left the funded account until now, in millionths of a USD
 * @param limits.scrub takes out of texts what nobody else may read
 */
export function createSteps(limits: {
  readonly print: (line: string) => void
  readonly signal: AbortSignal
  readonly sumMicroUsd: bigint
  readonly outlay: () => Promise<bigint>
  readonly scrub: (text: string) => string
}): Steps {
  const { print, signal, sumMicroUsd, outlay, scrub } = limits
  const results: StepResult[] = []

  /** @returns why the sum does not allow it */
  async function aboveSum(step: Step): Promise<string | undefined> {
    if (step.maxMicroUsd === 0n) return undefined
    const outlayMicroUsd = await outlay()
    if (isWithin(step, { outlayMicroUsd, sumMicroUsd })) return undefined
    return `${usdText(outlayMicroUsd)} left the account already, and the sum is ${usdText(sumMicroUsd)}`
  }

  async function take<Value>(step: Step, work: () => Promise<readonly [Value, string]>): Promise<Value> {
    signal.throwIfAborted()
    print(announce(step))
    const begin = performance.now()
    const end = (outcome: StepResult['outcome'], description: string) => {
      results.push({ step, outcome, told: description, seconds: (performance.now() - begin) / 1_000 })
      print(`  ${outcome}: ${scrub(description)}`)
    }
    try {
      const why = await aboveSum(step)
      if (why !== undefined) {
        end('not taken', why)
        throw new Stopped(`${nameOf(step)} would exceed the sum: ${why}`)
      }
      const [value, description] = await work()
      end('done', description)
      return value
    } catch (cause) {
      if (cause instanceof Stopped) throw cause
      end('failed', wordsOf(cause))
      throw new Stopped(`${nameOf(step)} failed`, { cause })
    }
  }

  return { take, taken: results }
}

const wordsMax = 400

/** An error of a node may quote all that was sent. */
export function wordsOf(error: unknown): string {
  const { shortMessage, message } = Object(error)
  return String(shortMessage ?? message ?? error).slice(0, wordsMax)
}
