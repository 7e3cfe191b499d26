import { z } from 'zod'

/** Operator's reason for an action; stored with it. */
export const operatorReason = z.string().regex(/^[\x20-\x7e]{1,200}$/, 'must be 1 to 200 plain characters')
