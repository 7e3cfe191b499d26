import type { ShapeUnits } from '@causeway/families/rules'

/** Never rejects. */
export type UnitsMeter = () => Promise<readonly ShapeUnits[]>

/** So that a change is known within a minute, with the time until the next block is read. */
const measureEveryMs = 40_000

/**
 * Units of known transactions on a chain, measured at the first call and repeatedly after that. Calls wait for the
 * first measurement, even if the reading that began it failed meanwhile, but for no later one. Without a new answer the
 * last one stands, so silencing a chain makes nothing cheaper.
 * @param measure none where too few say it
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
  let first: Promise<void> | undefined

  async function look(): Promise<void> {
    try {
      for (const shapeUnits of await measure()) unitsByShape.set(shapeUnits.shape, shapeUnits)
    } catch (error) {
      onFailure(error)
    }
  }
  return async () => {
    if (startedAtMs === undefined || now() - startedAtMs >= measureEveryMs) {
      startedAtMs = now()
      const looked = look()
      first ??= looked
    }
    await first
    return [...unitsByShape.values()]
  }
}
