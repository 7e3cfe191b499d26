/** Times that several jobs of a request's life share. */

/** Seconds after a deadline in which a transaction that was sent in time may still be included. */
export const lateInclusionSeconds = 60

/**
 * Seconds by which a hold outlives its quote, so that a deposit of the last second can still be seen, and a fitting deposit
 * can follow an unfit one. @source rule L-59
 */
export const holdGraceSeconds = 30

/** Seconds by which a pin outlives the order's deadline and finality; then the hold ends by itself. */
export const pinGraceSeconds = 900

/** Seconds until the deadline of a refund. */
export const refundSeconds = 7 * 86_400
