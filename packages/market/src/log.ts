/** The part of a pino logger that the market uses. */
export interface MarketLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}
