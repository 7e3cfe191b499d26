import type { Hex } from '@causeway/core'
import { z } from 'zod'

/** Lower-case hex of exactly so many bytes, as this package writes it. */
export function hexSchema(bytes: number) {
  return (
    z
      .string()
      .regex(new RegExp(`^0x[0-9a-f]{${bytes * 2}}$`))
      // CAST: the pattern above is that of Hex.
      .transform((value) => value as Hex)
  )
}
