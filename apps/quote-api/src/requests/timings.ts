/** Times that more than one part of a request's life keeps to. */

/** A transaction of the last second may still be on its way into a block. */
export const lateInclusionSeconds = 60

/**
 * A hold outlives its quote by this: a deposit of the last second must still be seen, and a fitting deposit
 * may follow an unfit one for as long as the hold lives. @source rule L-59
 */
export const holdGraceSeconds = 30

/** A pin outlives order deadline and finality by this: the hold ends by itself after it. @source design.md 6.5 */
export const pinGraceSeconds = 900

/** Time in which a refund must be sent. */
export const refundSeconds = 7 * 86_400
