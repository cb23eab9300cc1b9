/* `postern/testing`. The names stand here one by one, because `import` looks for them in the text. */
'use strict'

var testing = require('./load-module.cjs')('testing')

exports.startSidecar = testing.startSidecar
exports.NotReadyError = testing.NotReadyError
exports.OperatorError = testing.OperatorError
