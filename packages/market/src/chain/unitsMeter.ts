import type { ShapeUnits } from '@causeway/families/rules'

/** Gas units of known kinds of transactions (shapes), as last measured. Never rejects. */
export type UnitsMeter = () => Promise<readonly ShapeUnits[]>

/** Interval of measurements: with the time until the next block is read, a change is known within a minute. */
const measureEveryMs = 40_000

/**
 * Measures gas units of known transactions on a chain at the first call and regularly after that. Every call waits for
 * the first measurement, even if the reading that began it has failed, but for no later one. Without a new answer the
 * last one stays, so that nobody makes gas cheaper by silencing endpoints.
 * @param options.measure returns nothing where too few endpoints answer
 * @source F-115
 */
export function createUnitsMeter({
  measure,
  now,
  onFailure,
}: {
  readonly measure: () => Promise<readonly ShapeUnits[]>
  readonly now: () => number
  readonly onFailure: (error: unknown) => void
}): UnitsMeter {
  const unitsByShape = new Map<string, ShapeUnits>()
  let startedAtMs: number | undefined
  let firstMeasurement: Promise<void> | undefined

  async function measureNow(): Promise<void> {
    try {
      for (const shapeUnits of await measure()) unitsByShape.set(shapeUnits.shape, shapeUnits)
    } catch (error) {
      onFailure(error)
    }
  }
  return async () => {
    if (startedAtMs === undefined || now() - startedAtMs >= measureEveryMs) {
      startedAtMs = now()
      const measurement = measureNow()
      firstMeasurement ??= measurement
    }
    await firstMeasurement
    return [...unitsByShape.values()]
  }
}
