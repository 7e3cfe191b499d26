export { type Anvil, type AnvilOptions, freePort, startAnvil } from './nodes/anvil.ts'
