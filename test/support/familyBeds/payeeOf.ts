/** The account behind an address. @throws Error for somebody whom the bed cannot pay */
export function payeeOf<Account>(payees: Readonly<Record<string, Account>>, recipient: string): Account {
  const payee = payees[recipient]
  if (payee === undefined) throw new Error(`nobody here is called ${recipient}`)
  return payee
}
