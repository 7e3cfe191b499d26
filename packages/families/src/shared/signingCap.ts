/** The most that an oracle signs of one currency within an hour, in its smallest unit. */
export type SigningCap = { readonly currency: string; readonly amount: bigint }
