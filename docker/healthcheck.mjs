// Asks the operations listener of the service in this container whether it is ready.
const { OPS_PORT, OPS_HOST } = process.env
const host = OPS_HOST === undefined || OPS_HOST === '0.0.0.0' ? '127.0.0.1' : OPS_HOST
const answer = await fetch(`http://${host}:${OPS_PORT || '3001'}/ready`).catch(() => undefined)
process.exit(answer?.ok === true ? 0 : 1)
