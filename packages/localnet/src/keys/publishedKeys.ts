import type { LocalAccount, LocalKeys } from './localKeys.ts'

/**
 * Addresses whose private keys are printed in the manuals and start banners of development tools. On
 * real chain ids such an account is emptied within seconds of being funded.
 * The first ten of anvil and hardhat ("test … junk"), the first ten of truffle ("candy maple …"), the
 * first ten of ganache's deterministic mode ("myth like …"), and the private keys 1 to 10.
 */
export const publishedAddresses: ReadonlySet<string> = new Set([
  '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
  '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
  '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
  '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65',
  '0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc',
  '0x976ea74026e726554db657fa54763abd0c3a0aa9',
  '0x14dc79964da2c08b23698b3d3cc7ca32193d9955',
  '0x23618e81e3f5cdf7f54c3d65f7fbc0abf5b21e8f',
  '0xa0ee7a142d267c1f36714e4a8f75612f20a79720',
  '0x627306090abab3a6e1400e9345bc60c78a8bef57',
  '0xf17f52151ebef6c7334fad080c5704d77216b732',
  '0xc5fdf4076b8f3a5357c5e395ab970b5b54098fef',
  '0x821aea9a577a9b44299b9c15c88cf3087f3b5544',
  '0x0d1d4e623d10f9fba5db95830f7d3839406c6af2',
  '0x2932b7a2355d6fecc4b5c0b6bd44cc31df247a2e',
  '0x2191ef87e392377ec08e7c08eb105ef5448eced5',
  '0x0f4f2ac550a1b4e2280d04c21cea7ebd822934b5',
  '0x6330a553fc93768f612722bb8c2ec78ac90b3bbc',
  '0x5aeda56215b167893e80b4fe645ba6d5bab767de',
  '0x90f8bf6a479f320ead074411a4b0e7944ea8c9c1',
  '0xffcf8fdee72ac11b5c542428b35eef5769c409f0',
  '0x22d491bde2303f2f43325b2108d26f1eaba1e32b',
  '0xe11ba2b4d45eaed5996cd0823791e0c93114882d',
  '0xd03ea8624c8c5987235048901fb614fdca89b117',
  '0x95ced938f7991cd0dfcb48f0a06a40fa1af46ebc',
  '0x3e5e9111ae8eb78fe1cc3bb8915d5d461f3ef9a9',
  '0x28a8746e75304c0780e011bed21c72cd78cd535e',
  '0xaca94ef8bd5ffee41947b4585a84bda5a3d3da6e',
  '0x1df62f291b2e969fb0849d99d9ce41e2f137006e',
  '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf',
  '0x2b5ad5c4795c026514f8317c7a215e218dccd6cf',
  '0x6813eb9362372eef6200f3b1dbc3f819671cba69',
  '0x1eff47bc3a10a45d4b230b5d10e37751fe6aa718',
  '0xe1ab8145f7e55dc933d51a18c793f901a3a0b276',
  '0xe57bfe9f44b819898f47bf37e5af72a0783e1141',
  '0xd41c057fd1c78805aac12b0a94a405c0461a6fbb',
  '0xf1f6619b38a98d6de0800f1defc0a6399eb6d30c',
  '0xf7edc8fa1ecc32967f827c9043fcae6ba73afa5c',
  '0x4cceba2d7d2b4fdce4304d3e09a1fea9fbeb1528',
])

/** The roles whose key is published; empty for keys that were generated here. */
export function rolesWithPublishedKeys(keys: LocalKeys): readonly string[] {
  return keyRoles(keys)
    .filter(({ account }) => publishedAddresses.has(account.address.toLowerCase()))
    .map(({ role }) => role)
}

/** Every account of a network with the name it has in messages. */
export function keyRoles(
  keys: LocalKeys,
): readonly { readonly role: string; readonly account: LocalAccount }[] {
  const { oracles, users, ...single } = keys
  const numbered = (name: string, accounts: readonly LocalAccount[]) =>
    accounts.map((account, index) => ({ role: `${name} ${index + 1}`, account }))
  return [
    ...Object.entries(single).map(([role, account]) => ({ role, account })),
    ...numbered('oracle', oracles),
    ...numbered('user', users),
  ]
}
