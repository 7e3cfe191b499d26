import { z } from 'zod'

// Fields about API keys, for the command line and the admin listener.

/** A week: time for every instance of an integrator to take the new secret. */
const defaultOverlapSeconds = 7 * 86_400
const overlapSecondsMax = 90 * 86_400

export const keyIdText = z
  .string()
  .regex(/^[a-z2-7]{10}$/, 'must be the public id of a key')
  .describe('Public id of a key')

export const keyLabelText = z
  .string()
  .regex(/^[\x20-\x7e]{1,100}$/, 'must be 1 to 100 plain characters')
  .describe('For people: whose key it is')

export const keyOverlapSeconds = z
  .int()
  .min(0)
  .max(overlapSecondsMax)
  .default(defaultOverlapSeconds)
  .describe('How long the secrets before keep working; 0 ends them at once')
