package bustest

import "troupe/robotd/driver"

// Ordered is a body that reports the orders that its adapter gives it.
type Ordered struct {
	driver.Driver
	Orders chan driver.Order
}

// ReportOrders returns a body whose orders have to be read.
func ReportOrders(body driver.Driver) Ordered {
	return Ordered{body, make(chan driver.Order, 64)}
}

// Order gives the body an order and reports it.
func (o Ordered) Order(to driver.Order) {
	o.Driver.Order(to)
	o.Orders <- to
}
